-- Moving an agent to a newer image.
alter table agents
  -- Of the runtime in the guest, which is not always the one that is offered now.
  add column runtime_version text,
  drop constraint agents_operation_kind_check,
  add constraint agents_operation_kind_check check (
    operation_kind in ('start', 'resume', 'pause', 'stop', 'restart', 'upgrade')
  ),
  drop constraint agents_status_reason_code_check,
  add constraint agents_status_reason_code_check check (status_reason_code in (
    'waiting_for_template', 'snapshot_failed', 'upgrade_failed', 'provisioning_timeout', 'provisioning_failed',
    'insufficient_capacity', 'gateway_unhealthy', 'config_invalid', 'vm_crashed', 'out_of_memory', 'disk_full',
    'resume_failed'
  ));
