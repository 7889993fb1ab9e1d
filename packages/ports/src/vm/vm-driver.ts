import type { VmMachines } from './machines.ts';
import type { SavedMachines } from './saved-machines.ts';
import type { VmTemplates } from './templates.ts';
import type { VmHost } from './vm-host.ts';

/**
 * Runs VMs. One object of this kind owns all VMs of this instance on this host.
 * At most one VM exists per agent. `create`, `remove` and `buildTemplate` are idempotent and may be repeated after a crash
 * at any point.
 * Calls for one agent are served one at a time, in order, except that `remove` aborts a `create` in progress.
 */
export interface VmDriver extends VmMachines, SavedMachines, VmTemplates, VmHost {}
