-- Sums of usage by UTC month too (`width` 2678400 stands for it): a year of a thousand agents, each for itself.

alter table usage_sums
  drop constraint usage_sums_width_check,
  add constraint usage_sums_width_check check (width in (900, 86400, 2678400));

insert into usage_sums (
  account_id, width, agent_id, at, provider, model,
  requests, unpriced_requests, estimated_requests, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens,
  llm_usd, cpu_ms, egress_bytes, running, paused, stopped, vcpus, memory_mib, disk_gib, compute_usd, storage_usd,
  running_ms, paused_ms, stopped_ms, vcpus_ms, memory_mib_ms, disk_gib_ms, compute_usd_ms, storage_usd_ms
)
select
  account_id, 2678400, agent_id, starts, provider, model,
  sum(requests), sum(unpriced_requests), sum(estimated_requests), sum(input_tokens), sum(output_tokens),
  sum(cache_read_tokens), sum(cache_write_tokens), sum(llm_usd), sum(cpu_ms), sum(egress_bytes), sum(running),
  sum(paused), sum(stopped), sum(vcpus), sum(memory_mib), sum(disk_gib), sum(compute_usd), sum(storage_usd),
  sum(running_ms + running * ms), sum(paused_ms + paused * ms), sum(stopped_ms + stopped * ms), sum(vcpus_ms + vcpus *
  ms), sum(memory_mib_ms + memory_mib * ms), sum(disk_gib_ms + disk_gib * ms), sum(compute_usd_ms + compute_usd * ms),
  sum(storage_usd_ms + storage_usd * ms)
from (
  select *,
    date_trunc('month', at, 'UTC') as starts,
    extract(epoch from (date_trunc('month', at at time zone 'UTC') + interval '1 month') at time zone 'UTC' - at) * 1000
      - 86400000 as ms
  from usage_sums where width = 86400
) as days
group by account_id, agent_id, starts, provider, model;
