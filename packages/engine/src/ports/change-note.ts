import type { NewAuditEvent } from './audit.ts';

/** What is written with a change, in its transaction. */
export interface ChangeNote {
  readonly audit: NewAuditEvent;
  /** Key of the idempotent request (`IdempotencyStore`) whose effect this is. */
  readonly idempotencyKey?: string;
}
