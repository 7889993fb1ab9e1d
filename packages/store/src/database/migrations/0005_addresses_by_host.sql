-- Hosts may give their VMs the same addresses: each knows only its own by them.

drop index agents_vm_address;
create unique index agents_vm_address on agents (vm_address, host) nulls not distinct
  where deleted_at is null and vm_address is not null;
