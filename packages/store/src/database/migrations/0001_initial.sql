-- Accounts, API keys, agents with their provider keys, and finished LLM calls.

create table accounts (
  id text primary key default gen_random_uuid()::text,
  name text not null,
  created_at timestamptz not null default now()
);

create table api_keys (
  id text primary key default gen_random_uuid()::text,
  account_id text not null references accounts (id),
  name text not null,
  -- SHA-256 of the whole key, which is itself kept nowhere.
  hash bytea not null unique check (octet_length(hash) = 32),
  last4 text not null check (char_length(last4) = 4),
  scopes text[] not null check (
    cardinality(scopes) > 0
    and scopes <@ array['agents:read', 'agents:write', 'agents:delete', 'usage:read', 'agents:chat']
  ),
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz
);

create table agents (
  id text primary key check (id ~ '^[a-z][a-z0-9]{11}$'),
  account_id text not null references accounts (id),
  name text not null,
  description text,
  runtime_kind text not null check (runtime_kind in ('runtime_a', 'runtime_b')),
  model text not null,
  size text not null check (size in ('small', 'medium', 'large', 'xlarge')),
  idle_timeout_seconds integer not null check (idle_timeout_seconds >= 0),
  stop_after_seconds integer not null check (stop_after_seconds >= 0),
  keep_awake text not null check (keep_awake in ('auto', 'always')),
  auto_resume boolean not null,
  auto_start boolean not null,
  wake_on_message boolean not null,
  metadata jsonb not null check (jsonb_typeof(metadata) = 'object'),
  -- Milliseconds, as clients see it and cursors hold it; strictly rising within an account.
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  deleted_at timestamptz(3),

  -- What is wanted.
  desired text not null default 'running' check (desired in ('running', 'deleted')),
  generation integer not null default 1 check (generation > 0),

  -- What is so, as the reconciler found it.
  status text not null default 'provisioning'
    check (status in ('provisioning', 'running', 'paused', 'stopped', 'error')),
  status_reason_code text check (status_reason_code in (
    'waiting_for_template', 'provisioning_timeout', 'provisioning_failed', 'insufficient_capacity', 'gateway_unhealthy',
    'config_invalid', 'vm_crashed', 'out_of_memory', 'disk_full', 'resume_failed'
  )),
  status_reason_message text,
  status_reason_at timestamptz(3),
  execution_id text,
  template_id text,
  vm_address text,
  acknowledged boolean not null default false,
  started_at timestamptz(3),
  last_active_at timestamptz(3),
  crashes timestamptz[] not null default '{}',

  -- Who may change the agent's VM, and until when.
  lease_holder text,
  lease_until timestamptz,

  constraint agents_status_reason_whole check (
    num_nulls(status_reason_code, status_reason_message, status_reason_at) in (0, 3)
  ),
  constraint agents_error_has_reason check (status <> 'error' or status_reason_code is not null),
  constraint agents_lease_whole check ((lease_holder is null) = (lease_until is null)),
  constraint agents_deleted_was_wanted check (deleted_at is null or desired = 'deleted')
);

-- Lists page through it; scans of all live agents use it too, past however many deleted rows.
create index agents_live on agents (account_id, created_at, id) where deleted_at is null;
-- The broker finds the agent of every LLM call by it. No two live agents can be one address.
create unique index agents_vm_address on agents (vm_address) where deleted_at is null and vm_address is not null;

create table llm_keys (
  agent_id text not null references agents (id),
  provider text not null,
  sealed text not null,
  last4 text not null check (char_length(last4) <= 4),
  created_at timestamptz(3) not null default now(),
  primary key (agent_id, provider)
);

create table llm_calls (
  id text primary key,
  agent_id text not null references agents (id),
  account_id text not null references accounts (id),
  provider text not null,
  model text not null,
  started_at timestamptz(3) not null,
  duration_ms bigint not null check (duration_ms >= 0),
  status integer,
  outcome text not null check (outcome in ('ok', 'provider_error', 'cancelled', 'unreachable', 'refused')),
  input_tokens bigint check (input_tokens >= 0),
  output_tokens bigint check (output_tokens >= 0),
  cache_read_tokens bigint check (cache_read_tokens >= 0),
  cache_write_tokens bigint check (cache_write_tokens >= 0),
  -- US dollars.
  cost_usd numeric check (cost_usd >= 0)
);

create function notify_agent_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('agent_changed', new.id);
  return null;
end
$$;

create trigger agents_inserted after insert on agents
  for each row execute function notify_agent_changed();

-- Leases and activity are book-keeping: a reconciler woken by its own lease would never rest.
create trigger agents_updated after update on agents
  for each row
  when (
    to_jsonb(old) - '{lease_holder,lease_until,last_active_at}'::text[]
    is distinct from to_jsonb(new) - '{lease_holder,lease_until,last_active_at}'::text[]
  )
  execute function notify_agent_changed();
