/** Failures of saves, as their callers are told. */
import { Refusal } from '@lodge/domain';
import type { SnapshotRow } from '@lodge/store/snapshots';

/** A client that waits for an agent to end its turn tries again after so long. */
const busyRetrySeconds = 10;

export function saveFailure({ error, errorCode, agentId }: SnapshotRow): Refusal {
  const message = `The snapshot was not saved: ${error ?? 'its machine could not be saved.'}`;
  switch (errorCode) {
    case 'agent_busy':
      return new Refusal('agent_busy', message, { agentId, retryAfterSeconds: busyRetrySeconds });
    case 'insufficient_capacity':
      return new Refusal('insufficient_capacity', message, { agentId });
    case null:
      return new Refusal('internal_error', message, { agentId });
  }
}
