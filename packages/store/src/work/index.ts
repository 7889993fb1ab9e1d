export { claimWork, renewWork } from './claim.ts';
export type { ClaimOptions } from './claim.ts';
export type { ClaimedConfirmation, ClaimedMessage, ClaimedPiece, ClaimedRun } from './kinds.ts';
export type { WorkClaim } from './leases.ts';
export type { WorkKind } from './tables.ts';
export { deleteEnded } from './tidy.ts';
export { storableReason } from './work.ts';
export type { Postponement } from './work.ts';
