import type { VmDeath } from '@lodge/domain';

export type VmErrorCode =
  | 'aborted'
  | 'superseded'
  | 'timeout'
  | 'no_capacity'
  | 'template_missing'
  | 'disk_missing'
  | 'snapshot_missing'
  /** The snapshot is whole, but was saved on another emulator, accelerator or processor. */
  | 'snapshot_foreign'
  /** There is no saved machine of that id. */
  | 'saved_missing'
  /** A saved machine is not as it was saved. It is not loaded. */
  | 'saved_damaged'
  | 'disk_full'
  | 'gone'
  /** Nothing in the guest accepts a connection at this port. */
  | 'unreachable'
  | 'failed';

/** Thrown when a driver fails. `message` is for the operator's log, never for a reply. */
export class VmError extends Error {
  readonly code: VmErrorCode;
  /** The reason why the VM ended, for a start that failed because of it. */
  readonly death: VmDeath | null;
  constructor(code: VmErrorCode, message: string, options?: ErrorOptions & { readonly death?: VmDeath | null }) {
    super(message, options);
    this.name = 'VmError';
    this.code = code;
    this.death = options?.death ?? null;
  }
}
