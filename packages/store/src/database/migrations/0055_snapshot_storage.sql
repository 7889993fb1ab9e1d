-- The disk of snapshots counts as usage of their agent. A snapshot has what its files take up, where a file that several
-- folders of the host have is divided among them.
alter table snapshots add column held_bytes bigint not null default 0 check (held_bytes >= 0);

-- Disk comes in parts of a GiB from here on.
drop view usage_entries;
alter table compute_steps alter column disk_gib type numeric;
alter table usage_sums alter column disk_gib type numeric, alter column disk_gib_ms type numeric;
-- An agent has one row for its machine, and one for its snapshots, which may outlive it.
alter table compute_rates
  alter column disk_gib type numeric,
  add column of_snapshots boolean not null default false,
  drop constraint compute_rates_pkey,
  add primary key (agent_id, of_snapshots);

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

-- As before, but for the machine's row alone.
create or replace function note_compute(a agents) returns void language plpgsql as $$
declare
  old compute_rates;
  new compute_rates;
  price compute_prices;
  there constant boolean := a.deleted_at is null and a.machine_vcpus is not null;
  runs constant integer := (there and a.status = 'running')::int;
  sleeps constant integer := (there and a.status = 'paused')::int;
begin
  select * into old from compute_rates where agent_id = a.id and not of_snapshots for update;
  if old.agent_id is null then
    if not there then return; end if;
    old := (a.id, a.account_id, '-infinity', 0, 0, 0, 0, 0, 0, 0, 0, false);
  end if;
  select * into price from compute_prices where size = a.size;
  new := (
    a.id, a.account_id, greatest(clock_timestamp(), old.since),
    runs, sleeps, (there and a.status = 'stopped')::int,
    runs * coalesce(a.machine_vcpus, 0), (runs + sleeps) * coalesce(a.machine_memory_mib, 0),
    there::int * coalesce(a.machine_disk_gib, 0),
    runs * coalesce(price.running_usd, 0) + sleeps * coalesce(price.paused_usd, 0),
    there::int * coalesce(a.machine_disk_gib, 0) * coalesce(price.storage_usd, 0), false
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
  on conflict (agent_id, of_snapshots) do update set
    since = new.since, running = new.running, paused = new.paused, stopped = new.stopped, vcpus = new.vcpus,
    memory_mib = new.memory_mib, disk_gib = new.disk_gib, compute_usd = new.compute_usd, storage_usd = new.storage_usd;
end
$$;

-- Brings the rates of an agent's snapshots to what their rows say, with the step that takes. The lock on the rates comes
-- before the look at the rows, so the last of several transactions sees what the others have written.
create function note_snapshots(of_agent text, of_account text) returns void language plpgsql as $$
declare
  old compute_rates;
  gib numeric;
  usd numeric;
  moment timestamptz(3);
begin
  insert into compute_rates values (of_agent, of_account, '-infinity', 0, 0, 0, 0, 0, 0, 0, 0, true)
    on conflict do nothing;
  select * into old from compute_rates where agent_id = of_agent and of_snapshots for update;
  select coalesce(sum(each.gib), 0), coalesce(sum(each.gib * coalesce(p.storage_usd, 0)), 0) into gib, usd
    from (select size, round(held_bytes / 1073741824.0, 6) as gib from snapshots where agent_id = of_agent) as each
    left join compute_prices p on p.size = each.size;
  if (old.disk_gib, old.storage_usd) = (gib, usd) then return; end if;
  moment := greatest(clock_timestamp(), old.since);
  insert into compute_steps (
    agent_id, account_id, at, running, paused, stopped, vcpus, memory_mib, disk_gib, compute_usd, storage_usd
  ) values (of_agent, of_account, moment, 0, 0, 0, 0, 0, gib - old.disk_gib, 0, usd - old.storage_usd);
  update compute_rates set since = moment, disk_gib = gib, storage_usd = usd where agent_id = of_agent and of_snapshots;
end
$$;

-- By the statement, because the rows that it changes are locked before the rates are.
create function snapshots_note_storage() returns trigger language plpgsql as $$
declare
  of record;
begin
  if tg_op = 'DELETE' then
    for of in select distinct agent_id, account_id from removed where held_bytes > 0 order by 1
    loop perform note_snapshots(of.agent_id, of.account_id); end loop;
  else
    for of in select distinct n.agent_id, n.account_id
      from added n join removed o on o.id = n.id where n.held_bytes <> o.held_bytes order by 1
    loop perform note_snapshots(of.agent_id, of.account_id); end loop;
  end if;
  return null;
end
$$;
create trigger snapshots_storage_changed after update on snapshots
  referencing old table as removed new table as added
  for each statement execute function snapshots_note_storage();
create trigger snapshots_storage_removed after delete on snapshots
  referencing old table as removed
  for each statement execute function snapshots_note_storage();
