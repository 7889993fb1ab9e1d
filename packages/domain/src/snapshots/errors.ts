import type { ErrorKind } from '../error-kind.ts';

export const snapshotErrors = {
  snapshot_not_found: { status: 404, meaning: 'There is no such snapshot, or it is not of this agent.' },
  snapshot_not_ready: { status: 409, meaning: 'The snapshot is still being saved, or its save failed.' },
  snapshot_damaged: { status: 409, meaning: 'The snapshot is not as it was saved. It is kept and never loaded.' },
} as const satisfies Readonly<Record<string, ErrorKind>>;
