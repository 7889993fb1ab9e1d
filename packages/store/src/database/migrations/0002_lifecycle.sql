-- The whole life of an agent: changes of its machine under way, what holds it awake, and its log.

alter table agents
  -- The change of the machine that is under way.
  add column operation_kind text check (operation_kind in ('start', 'resume', 'pause', 'stop', 'restart')),
  add column operation_cause text check (operation_cause in ('request', 'idle', 'memory', 'message', 'health')),
  add column operation_started_at timestamptz(3),
  -- The control plane whose host has the disk.
  add column host text,
  -- The machine as it is, or was when it last ran; `size` is the one asked for.
  add column machine_vcpus integer check (machine_vcpus > 0),
  add column machine_memory_mib integer check (machine_memory_mib > 0),
  add column machine_disk_gib integer check (machine_disk_gib > 0),
  add column paused_at timestamptz(3),
  add column stopped_at timestamptz(3),
  add constraint agents_operation_whole check (
    num_nulls(operation_kind, operation_cause, operation_started_at) in (0, 3)
  ),
  add constraint agents_machine_whole check (
    num_nulls(machine_vcpus, machine_memory_mib, machine_disk_gib) in (0, 3)
  ),
  drop constraint agents_status_reason_code_check,
  add constraint agents_status_reason_code_check check (status_reason_code in (
    'waiting_for_template', 'snapshot_failed', 'provisioning_timeout', 'provisioning_failed', 'insufficient_capacity',
    'gateway_unhealthy', 'config_invalid', 'vm_crashed', 'out_of_memory', 'disk_full', 'resume_failed'
  ));

-- What keeps agents awake, and until when: one row per agent and process that uses it. Apart from `agents`, whose every
-- version the trigger looks at.
create table agent_holds (
  agent_id text not null references agents (id),
  holder text not null,
  until timestamptz not null,
  primary key (agent_id, holder)
);

-- The end of each agent's log. Whoever appends locks the row until the commit, so ids of one agent become visible in order,
-- without a gap, and its times never go back.
create table agent_log_heads (
  agent_id text primary key references agents (id),
  last_id bigint not null,
  last_at timestamptz(3) not null,
  -- `last_at` before the latest append.
  previous_at timestamptz(3) not null
);

-- No foreign key: the head has it, and a flood of lines need not look the agent up for each.
create table agent_logs (
  agent_id text not null,
  id bigint not null,
  at timestamptz(3) not null,
  -- debug, info, warn, error
  level smallint not null check (level between 0 and 3),
  -- system, console, gateway, channel, egress
  source smallint not null check (source between 0 and 4),
  message text not null,
  primary key (agent_id, id)
);
-- From a time to an id: both rise together.
create index agent_logs_at on agent_logs (agent_id, at, id);
-- A page of a rare level or source does not look at all that lies between.
create index agent_logs_kind on agent_logs (agent_id, source, level, id);

-- Search goes through a log by chunks of 16,384 ids: one index finds the entries of a chunk, of a level or above it, from
-- one source or any, whose message holds a text. An entry has these keys, and a search asks for one of them. (`first` is a
-- hash of the agent and the chunk; whoever searches looks at `agent_id` too.)
create extension if not exists pg_trgm;
create function agent_log_chunk(agent_id text, id bigint) returns bigint
  language sql immutable parallel safe
  return (hashtextextended(agent_id, 0) >> 8) + (id >> 14) * 32;
create function agent_log_keys(first bigint, level smallint, source smallint) returns bigint[]
  language sql immutable parallel safe
  return array[
    first, first + least(level, 1) * 6, first + least(level, 2) * 6, first + level * 6,
    first + 1 + source, first + least(level, 1) * 6 + 1 + source,
    first + least(level, 2) * 6 + 1 + source, first + level * 6 + 1 + source
  ];
-- Whoever searches reads the pending list of the index for every chunk, so it is kept short.
create index agent_logs_search on agent_logs
  using gin (agent_log_keys(agent_log_chunk(agent_id, id), level, source), message gin_trgm_ops)
  with (gin_pending_list_limit = 512);

-- How far the log of a guest was read.
create table agent_log_positions (
  agent_id text not null references agents (id),
  source smallint not null check (source between 0 and 4),
  execution_id text not null,
  "offset" bigint not null check ("offset" >= 0),
  primary key (agent_id, source)
);
