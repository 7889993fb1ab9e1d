-- What agents and accounts have spent in the day and the month (UTC) that are now, and the limits of accounts.

alter table accounts add column spend_limit jsonb check (jsonb_typeof(spend_limit) = 'object');

alter table agents
  drop constraint agents_operation_cause_check,
  add constraint agents_operation_cause_check check (
    operation_cause in ('request', 'idle', 'memory', 'message', 'health', 'limit')
  );

-- One row per window that is open: the next day's first call makes the day's row begin anew.
create table spend_windows (
  scope text not null check (scope in ('agent', 'account')),
  id text not null,
  period text not null check (period in ('day', 'month')),
  starts timestamptz not null,
  -- Of the window's calls that have ended and have a price.
  spent_usd numeric not null check (spent_usd >= 0),
  -- The limit for which the agent's owner was told that it is nearly reached, and the one that it is reached.
  warned_for numeric,
  reached_for numeric,
  primary key (scope, id, period)
) with (fillfactor = 80);

-- Whoever writes the row of a call, its cost is in the windows from the same commit on. A call counts in the window it began in.
create function add_spend() returns trigger language plpgsql as $$
begin
  insert into spend_windows as w (scope, id, period, starts, spent_usd)
  select distinct on (scope, id, period) scope, id, period, starts, spent_usd from (
    select scope, subject.id, period, date_trunc(period, started_at, 'UTC') as starts, sum(cost_usd) as spent_usd
    from new_calls,
      lateral (values ('agent', agent_id), ('account', account_id)) subject (scope, id),
      (values ('day'), ('month')) periods (period)
    where cost_usd > 0
    group by 1, 2, 3, 4
  ) sums
  -- Rows are locked in one order, so that two commits never wait for each other.
  order by scope, id, period, starts desc
  on conflict (scope, id, period) do update set
    starts = excluded.starts,
    spent_usd = case when w.starts = excluded.starts then w.spent_usd else 0 end + excluded.spent_usd,
    warned_for = case when w.starts = excluded.starts then w.warned_for end,
    reached_for = case when w.starts = excluded.starts then w.reached_for end
  where w.starts <= excluded.starts;
  return null;
end
$$;

create trigger llm_calls_spend after insert on llm_calls
  referencing new table as new_calls
  for each statement execute function add_spend();

insert into spend_windows (scope, id, period, starts, spent_usd)
select scope, subject.id, period, date_trunc(period, now(), 'UTC'), sum(cost_usd)
from llm_calls,
  lateral (values ('agent', agent_id), ('account', account_id)) subject (scope, id),
  (values ('day'), ('month')) periods (period)
where cost_usd > 0 and started_at >= date_trunc(period, now(), 'UTC')
group by 1, 2, 3, 4;
