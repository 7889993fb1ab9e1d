alter table agents
  -- While a restore saves the present: the snapshot to go back to, and whether with its memory.
  add column restore_to text,
  add column restore_memory boolean not null default false,
  -- While a restore starts the agent: the snapshot of the present, which comes back when that start fails.
  add column restore_back text,
  drop constraint agents_status_reason_code_check,
  add constraint agents_status_reason_code_check check (
    status_reason_code in (
      'waiting_for_template', 'snapshot_failed', 'upgrade_failed', 'restore_failed', 'provisioning_timeout',
      'provisioning_failed', 'insufficient_capacity', 'gateway_unhealthy', 'config_invalid', 'vm_crashed',
      'out_of_memory', 'disk_full', 'host_disk_full', 'resume_failed'
    )
  );
