-- One queue of work: what waits or is under way, of every kind. What became of it is in the table of its kind.

create table work (
  kind text collate "C" not null,
  -- The id of the run or message, in the table of its kind.
  id text not null,
  -- The order among pieces that are due at the same time.
  seq bigint generated always as identity,
  account_id text not null,
  agent_id text not null,
  -- Pieces of one lane are done one at a time, in their order.
  lane text collate "C" not null,
  -- Not before: put off with others, or until another attempt.
  due_at timestamptz(3) not null,
  attempts integer not null default 0,
  -- When the first attempt began.
  started_at timestamptz(3),
  -- Since when there have been attempts whose outcome was not written: the one under way, and those whose process died.
  attempt_at timestamptz(3),
  -- An attempt began and did not come to its end.
  may_have_acted boolean not null default false,
  -- Why the last attempt came to nothing.
  reason text,
  -- One process at a time. The number rises with each claim, and fences what it may write.
  claim integer not null default 0,
  claim_holder text,
  claim_until timestamptz(3),
  primary key (id, kind),
  constraint work_claim_whole check ((claim_holder is null) = (claim_until is null))
) with (fillfactor = 70);
create index work_by_lane on work (kind, lane, due_at, seq);
-- A renewal of a claim changes no column that is in an index.
create index work_claimed on work (kind) where claim_holder is not null;

insert into work (
  kind, id, account_id, agent_id, lane, due_at, attempts, started_at, attempt_at, may_have_acted, reason, claim, claim_holder,
  claim_until
)
select 'run', id, account_id, agent_id, agent_id, due_at, attempts, started_at, attempt_at, may_have_acted, error, claim,
  claim_holder, claim_until
from schedule_runs where status is null order by seq;
insert into work (
  kind, id, account_id, agent_id, lane, due_at, attempts, started_at, attempt_at, may_have_acted, reason, claim, claim_holder,
  claim_until
)
select 'message', id, account_id, agent_id, agent_id, due_at, attempts, started_at, attempt_at, may_have_acted, reason, claim,
  claim_holder, claim_until
from hook_messages where status is null order by seq;

-- Indexes and constraints of these columns go with them.
alter table schedule_runs
  drop column due_at, drop column attempt_at, drop column may_have_acted,
  drop column claim, drop column claim_holder, drop column claim_until;
alter table hook_messages
  drop column due_at, drop column attempt_at, drop column may_have_acted,
  drop column claim, drop column claim_holder, drop column claim_until;

-- A trigger, because rows of these tables go in several ways: with their owner, with their agent, and when they are old.
create function forget_work() returns trigger language plpgsql as $$
begin
  delete from work w using gone where w.kind = tg_argv[0] and w.id = gone.id;
  return null;
end
$$;
create trigger schedule_runs_forget_work after delete on schedule_runs
  referencing old table as gone for each statement execute function forget_work('run');
create trigger hook_messages_forget_work after delete on hook_messages
  referencing old table as gone for each statement execute function forget_work('message');
