-- What agents use: model calls under way and over, the time and size of machines, and sums of it all.

alter table llm_calls
  -- Not known of a call whose server died.
  alter column duration_ms drop not null,
  -- Null in rows from before it was kept.
  add column api text check (
    api in ('openai-completions', 'openai-responses', 'anthropic-messages', 'google-generative-ai')
  ),
  add column first_byte_ms bigint check (first_byte_ms >= 0),
  add column cache_write_long_tokens bigint check (cache_write_long_tokens >= 0),
  add column reasoning_tokens bigint check (reasoning_tokens >= 0),
  add column image_tokens bigint check (image_tokens >= 0),
  add column estimated boolean not null default false,
  -- Names the price list that cost_usd is by.
  add column price_version text,
  -- Whether usage_sums has it.
  add column summed boolean not null default false,
  drop constraint llm_calls_outcome_check,
  add constraint llm_calls_outcome_check check (
    outcome in ('ok', 'provider_error', 'cancelled', 'unreachable', 'refused', 'interrupted')
  );
create index llm_calls_of_agent on llm_calls (agent_id, started_at, id);
create index llm_calls_of_account on llm_calls (account_id, started_at);
create index llm_calls_unsummed on llm_calls (id) where not summed;

-- Calls that went out and are not over: written before, removed with the row about them.
create table llm_calls_open (
  id text primary key,
  -- Who makes the call: the control plane's name, '#', and the session of its process.
  holder text not null,
  agent_id text not null,
  account_id text not null,
  provider text not null,
  model text not null,
  api text not null,
  started_at timestamptz(3) not null,
  opened_at timestamptz not null default clock_timestamp(),
  -- The most it is expected to take.
  input_tokens bigint not null check (input_tokens >= 0),
  output_tokens bigint not null check (output_tokens >= 0),
  cost_usd numeric check (cost_usd >= 0)
);
create index llm_calls_open_of_account on llm_calls_open (account_id, agent_id);

-- The operator's prices of machines, US dollars: an hour running or paused, and an hour of a gigabyte of disk.
create table compute_prices (
  size text primary key check (size in ('small', 'medium', 'large', 'xlarge')),
  running_usd numeric not null check (running_usd >= 0),
  paused_usd numeric not null check (paused_usd >= 0),
  storage_usd numeric not null check (storage_usd >= 0)
);

-- What each agent takes up now, a moment: this many of it running, paused or stopped (one, or none), so many vCPUs, so much
-- memory and disk, and what an hour of that costs. No foreign keys here and below: the trigger has the agent.
create table compute_rates (
  agent_id text primary key,
  account_id text not null,
  since timestamptz(3) not null,
  running integer not null,
  paused integer not null,
  stopped integer not null,
  vcpus integer not null,
  memory_mib integer not null,
  disk_gib integer not null,
  compute_usd numeric not null,
  storage_usd numeric not null
);
create index compute_rates_of_account on compute_rates (account_id);

-- Every change of these rates: the differences. What was used between two moments follows from the steps before and between.
create table compute_steps (
  id bigint generated always as identity primary key,
  agent_id text not null,
  account_id text not null,
  at timestamptz(3) not null,
  running integer not null,
  paused integer not null,
  stopped integer not null,
  vcpus integer not null,
  memory_mib integer not null,
  disk_gib integer not null,
  compute_usd numeric not null,
  storage_usd numeric not null,
  summed boolean not null default false
);
create index compute_steps_of_agent on compute_steps (agent_id, at);
create index compute_steps_of_account on compute_steps (account_id, at);
create index compute_steps_unsummed on compute_steps (id) where not summed;

-- How far the counters of an agent's VM were read; each execution begins at nought.
create table vm_counters (
  agent_id text primary key,
  execution_id text not null,
  cpu_ms bigint not null,
  egress_bytes bigint not null
);
create table vm_readings (
  id bigint generated always as identity primary key,
  agent_id text not null,
  account_id text not null,
  at timestamptz(3) not null,
  cpu_ms bigint not null check (cpu_ms >= 0),
  egress_bytes bigint not null check (egress_bytes >= 0),
  summed boolean not null default false
);
create index vm_readings_of_agent on vm_readings (agent_id, at);
create index vm_readings_of_account on vm_readings (account_id, at);
create index vm_readings_unsummed on vm_readings (id) where not summed;

-- Everything that is used, as single facts. A call counts at the moment it began. One that was refused before it went out
-- is none; one that used tokens at no known price is unpriced.
create view usage_entries as
  select
    'call' as kind, id, summed, account_id, agent_id, started_at as at, provider, model,
    (outcome <> 'refused')::int as requests,
    (cost_usd is null and coalesce(input_tokens, output_tokens) is not null)::int as unpriced_requests,
    (estimated)::int as estimated_requests,
    coalesce(input_tokens, 0) as input_tokens,
    coalesce(output_tokens, 0) as output_tokens,
    coalesce(cache_read_tokens, 0) as cache_read_tokens,
    coalesce(cache_write_tokens, 0) as cache_write_tokens,
    coalesce(cost_usd, 0) as llm_usd,
    0::bigint as cpu_ms, 0::bigint as egress_bytes,
    0 as running, 0 as paused, 0 as stopped, 0 as vcpus, 0 as memory_mib, 0 as disk_gib,
    0::numeric as compute_usd, 0::numeric as storage_usd
  from llm_calls
  union all
  select
    'step', id::text, summed, account_id, agent_id, at, '', '',
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    running, paused, stopped, vcpus, memory_mib, disk_gib, compute_usd, storage_usd
  from compute_steps
  union all
  select
    'reading', id::text, summed, account_id, agent_id, at, '', '',
    0, 0, 0, 0, 0, 0, 0, 0, cpu_ms, egress_bytes,
    0, 0, 0, 0, 0, 0, 0, 0
  from vm_readings;

-- Their sums by quarter of an hour and by UTC day (`width`, seconds), of each agent and, with no agent, of the account.
-- A rate has two: of its steps, and of each step times the milliseconds from it to the end of the span (`..._ms`).
create table usage_sums (
  account_id text not null,
  width integer not null check (width in (900, 86400)),
  agent_id text not null,
  at timestamptz(3) not null,
  provider text not null,
  model text not null,
  requests bigint not null,
  unpriced_requests bigint not null,
  estimated_requests bigint not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  cache_read_tokens bigint not null,
  cache_write_tokens bigint not null,
  llm_usd numeric not null,
  cpu_ms bigint not null,
  egress_bytes bigint not null,
  running integer not null,
  paused integer not null,
  stopped integer not null,
  vcpus integer not null,
  memory_mib integer not null,
  disk_gib integer not null,
  compute_usd numeric not null,
  storage_usd numeric not null,
  running_ms bigint not null,
  paused_ms bigint not null,
  stopped_ms bigint not null,
  vcpus_ms bigint not null,
  memory_mib_ms bigint not null,
  disk_gib_ms bigint not null,
  compute_usd_ms numeric not null,
  storage_usd_ms numeric not null,
  primary key (account_id, width, agent_id, at, provider, model)
);
create index usage_sums_of_agents on usage_sums (account_id, width, at) where agent_id <> '';

-- Brings an agent's rates to what its row says, with the step that takes. Called in the transaction of whatever changes the
-- row, under the row's lock. Machines are there from the first run on; what is deleted takes up nothing.
create function note_compute(a agents) returns void language plpgsql as $$
declare
  old compute_rates;
  new compute_rates;
  price compute_prices;
  there constant boolean := a.deleted_at is null and a.machine_vcpus is not null;
  runs constant integer := (there and a.status = 'running')::int;
  sleeps constant integer := (there and a.status = 'paused')::int;
begin
  select * into old from compute_rates where agent_id = a.id for update;
  if old.agent_id is null then
    if not there then return; end if;
    old := (a.id, a.account_id, '-infinity', 0, 0, 0, 0, 0, 0, 0, 0);
  end if;
  select * into price from compute_prices where size = a.size;
  new := (
    a.id, a.account_id, greatest(clock_timestamp(), old.since),
    runs, sleeps, (there and a.status = 'stopped')::int,
    runs * coalesce(a.machine_vcpus, 0), (runs + sleeps) * coalesce(a.machine_memory_mib, 0),
    there::int * coalesce(a.machine_disk_gib, 0),
    runs * coalesce(price.running_usd, 0) + sleeps * coalesce(price.paused_usd, 0),
    there::int * coalesce(a.machine_disk_gib, 0) * coalesce(price.storage_usd, 0)
  );
  if (old.running, old.paused, old.stopped, old.vcpus, old.memory_mib, old.disk_gib, old.compute_usd, old.storage_usd)
    = (new.running, new.paused, new.stopped, new.vcpus, new.memory_mib, new.disk_gib, new.compute_usd, new.storage_usd)
  then return; end if;
  insert into compute_steps (
    agent_id, account_id, at, running, paused, stopped, vcpus, memory_mib, disk_gib, compute_usd, storage_usd
  ) values (
    new.agent_id, new.account_id, new.since,
    new.running - old.running, new.paused - old.paused, new.stopped - old.stopped, new.vcpus - old.vcpus,
    new.memory_mib - old.memory_mib, new.disk_gib - old.disk_gib,
    new.compute_usd - old.compute_usd, new.storage_usd - old.storage_usd
  );
  insert into compute_rates values (new.*)
  on conflict (agent_id) do update set
    since = new.since, running = new.running, paused = new.paused, stopped = new.stopped, vcpus = new.vcpus,
    memory_mib = new.memory_mib, disk_gib = new.disk_gib, compute_usd = new.compute_usd, storage_usd = new.storage_usd;
end
$$;

create function agents_note_compute() returns trigger language plpgsql as $$
begin
  perform note_compute(new);
  return null;
end
$$;

create trigger agents_compute
  after insert or update of status, size, machine_vcpus, machine_memory_mib, machine_disk_gib, deleted_at on agents
  for each row execute function agents_note_compute();

-- What is there already is counted from now on.
select note_compute(agents) from agents where deleted_at is null;
