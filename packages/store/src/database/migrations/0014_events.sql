-- What happened, once: the audit log and the public events are readings of one table, and lines of agents' logs come with it.

create table events (
  -- Given under a lock of the account that is held until the commit: ids of one account become visible in order.
  id bigint generated always as identity,
  -- No foreign key: an account is never deleted, and a check would lock its row for each event of each of its agents.
  account_id text not null,
  -- Agents that are gone keep their events until they age out.
  agent_id text,
  type text not null,
  -- As in `agent_logs`.
  level smallint not null check (level between 1 and 3),
  data jsonb not null check (jsonb_typeof(data) = 'object'),
  -- Null: Lodge did it by itself. The audit log has the others.
  actor_kind text check (actor_kind in ('account', 'api_key', 'operator')),
  actor_id text,
  address text,
  request_id text,
  -- What it was done to, where that is no agent.
  target_kind text,
  target_id text,
  -- The change of an agent's machine, or its creation, that ended with this event.
  operation jsonb,
  created_at timestamptz(3) not null,
  primary key (account_id, id),
  constraint events_actor_whole check ((actor_kind = 'operator') = (actor_id is null)),
  constraint events_target_whole check ((target_kind is null) = (target_id is null))
);

insert into events (
  id, account_id, agent_id, type, level, data, actor_kind, actor_id, address, request_id, target_kind, target_id, created_at
)
overriding system value
select id, account_id, case when target_kind = 'agent' then target_id end, action, 1, details, actor_kind, actor_id, address,
  request_id, nullif(target_kind, 'agent'), case when target_kind <> 'agent' then target_id end, at
from audit_events;
-- Cursors of the audit log that clients have stay good.
select setval(pg_get_serial_sequence('events', 'id'), (select max(id) from audit_events)) from audit_events limit 1;
drop table audit_events;

-- A page of one agent, or of some types, looks at no other events.
create index events_of_agent on events (account_id, agent_id, id) where agent_id is not null;
create index events_of_type on events (account_id, type, id);
create index events_by_actor on events (account_id, id) where actor_kind is not null;
-- From a time to an id: both rise together within an account.
create index events_by_time on events (account_id, created_at);
