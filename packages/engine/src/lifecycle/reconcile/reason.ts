/** Why an agent could not be started, in public words. */
import type { StatusReasonCode } from '@lodge/domain';
import { isDamage } from '../../saved/usable.ts';
import type { ReportedDeath } from './death.ts';
import { StepFailed } from './pass.ts';

export interface Reason {
  readonly code: StatusReasonCode;
  readonly message: string;
}

/** Whether the host had no memory or no disk for it. Its memory is as good as before, and is loaded another time. */
export const hadNoRoom = (failed: StepFailed): boolean => failed.isVm('no_capacity') || failed.isVm('disk_full');

/** Why a memory did not load, as the event of it says. */
export const noMemory = (failed: StepFailed): { readonly missing: boolean; readonly foreign?: true } => ({
  missing: failed.isVm('snapshot_missing') || isDamage(failed.cause),
  ...(failed.isVm('snapshot_foreign') && { foreign: true }),
});

/**
 * Returns the public reason of a failed start; `fallback` where nothing more specific is known. `death` says that its VM
 * ended.
 */
export function reasonOf(failed: StepFailed, fallback: Reason, death: ReportedDeath | null): Reason {
  if (death) return withDeath(fallback, death);
  if (failed.isVm('no_capacity')) {
    return { code: 'insufficient_capacity', message: 'The host has no room for this VM.' };
  }
  if (failed.isVm('disk_full')) return { code: 'disk_full', message: 'There is no room left on the disk.' };
  if (fallback.code === 'resume_failed' || !failed.timedOut) return fallback;
  return { code: 'provisioning_timeout', message: 'The agent did not become ready in time.' };
}

/** Adds to the reason why the VM ended. A death without a specific cause leaves the code as it is. */
export function withDeath({ code, message }: Reason, { reason, message: why }: ReportedDeath): Reason {
  return { code: reason === 'vm_crashed' ? code : reason, message: `${message} ${why}` };
}
