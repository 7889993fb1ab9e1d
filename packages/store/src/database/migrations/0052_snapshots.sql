-- Machines at rest that an account keeps. The driver has the machine itself under the same id.
create table snapshots (
  id text primary key check (id ~ '^[a-z][a-z0-9]{11}$'),
  account_id text not null references accounts (id),
  -- Without a foreign key: a pinned snapshot outlives its agent.
  agent_id text not null,
  -- The `holder` on whose host the machine is.
  host text,
  kind text not null check (kind in ('named', 'auto', 'fork', 'before_restore', 'before_upgrade')),
  name text check (char_length(name) between 1 and 100),
  note text check (char_length(note) <= 2000),
  status text not null default 'saving' check (status in ('saving', 'ready', 'failed', 'damaged')),
  -- While it is being saved: whether memory is wanted. From then on: whether it has memory.
  memory boolean not null,
  loads text not null default 'disk' check (loads in ('memory', 'disk')),
  runtime_kind text not null,
  runtime_version text,
  size text not null check (size in ('small', 'medium', 'large', 'xlarge')),
  template_id text,
  bytes bigint not null default 0 check (bytes >= 0),
  disk_bytes bigint not null default 0 check (disk_bytes >= 0),
  pinned boolean not null default false,
  expires_at timestamptz(3),
  error text,
  -- The reason for a client that waits: it is busy, the disk is full, or null for any other.
  error_code text check (error_code in ('agent_busy', 'insufficient_capacity')),
  -- The agent's `turns` when it was saved.
  turns integer not null check (turns >= 0),
  created_at timestamptz(3) not null default clock_timestamp(),
  constraint snapshots_error_has_reason check (status not in ('failed', 'damaged') or error is not null),
  constraint snapshots_memory_loads check (loads = 'disk' or memory)
);
create index snapshots_by_account on snapshots (account_id, created_at desc, id desc);
create index snapshots_by_agent on snapshots (agent_id, created_at desc, id desc);
create index snapshots_by_expiry on snapshots (expires_at) where expires_at is not null;
-- An agent is saved once at a time.
create unique index snapshots_saving on snapshots (agent_id) where status = 'saving';

alter table agents
  drop constraint agents_operation_kind_check,
  add constraint agents_operation_kind_check check (
    operation_kind in ('start', 'resume', 'pause', 'stop', 'restart', 'upgrade', 'snapshot', 'restore')
  ),
  drop constraint agents_operation_cause_check,
  add constraint agents_operation_cause_check check (
    operation_cause in ('request', 'idle', 'memory', 'message', 'health', 'limit', 'disk', 'plan')
  ),
  -- The snapshot that the agent's next start begins from instead of its own disk, and whether with its memory.
  add column next_from text,
  add column next_memory boolean not null default false,
  -- The snapshot that the agent was made from: {agent_id, snapshot_id, at}.
  add column forked_from jsonb check (jsonb_typeof(forked_from) = 'object'),
  -- When snapshots are made by themselves, and how long those are kept.
  add column snapshots jsonb not null default '{"every_turns": null, "every": null, "keep": 10, "keep_days": 30}'
    check (jsonb_typeof(snapshots) = 'object'),
  -- A line that its next turn begins with.
  add column turn_note text check (char_length(turn_note) between 1 and 1000),
  -- Turns that were begun.
  add column turns integer not null default 0 check (turns >= 0);
create index agents_next_from on agents (next_from) where next_from is not null;

-- As before, but that turns are counted wakes nobody.
drop trigger agents_updated on agents;
create trigger agents_updated after update on agents for each row
  when (
    (to_jsonb(old) - '{lease_holder,lease_until,last_active_at,turns}'::text[])
    is distinct from (to_jsonb(new) - '{lease_holder,lease_until,last_active_at,turns}'::text[])
  )
  execute function notify_agent_changed();
