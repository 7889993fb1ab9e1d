-- Agents that are paused because their host is short of disk space.
alter table agents
  drop constraint agents_operation_cause_check,
  add constraint agents_operation_cause_check check (
    operation_cause in ('request', 'idle', 'memory', 'message', 'health', 'limit', 'disk')
  ),
  drop constraint agents_status_reason_code_check,
  add constraint agents_status_reason_code_check check (status_reason_code in (
    'waiting_for_template', 'snapshot_failed', 'upgrade_failed', 'provisioning_timeout', 'provisioning_failed',
    'insufficient_capacity', 'gateway_unhealthy', 'config_invalid', 'vm_crashed', 'out_of_memory', 'disk_full',
    'host_disk_full', 'resume_failed'
  ));
