/**
 * Ends of operations, as the transaction that writes them finds them. The agent's row shows them, whoever began the
 * operation.
 */
import { operationGoals } from '@lodge/domain';
import type { EventType, OperationCause } from '@lodge/domain';
import type { EndedOperation } from '@lodge/ports';
import type { Transited } from '@lodge/store/agents';

/** Events that say that an operation without a goal of its own is done. */
const doneBy: Readonly<Record<'snapshot' | 'restore', readonly string[]>> = {
  snapshot: ['snapshot.created', 'agent.exported'],
  restore: ['agent.restored'],
};

/**
 * Returns the operation that ended with the transition, or null. A create ends when the agent first runs, or is in `error`.
 */
export function endedBy(row: Transited, event: EventType): EndedOperation | null {
  const { oldStatus, oldAcknowledged, oldKind, oldCause, status, reason, seconds } = row;
  const ended = (kind: EndedOperation['kind'], cause: OperationCause): EndedOperation => {
    // A failed upgrade leaves the agent running too, with a reason.
    const isDone =
      kind === 'snapshot' || kind === 'restore'
        ? doneBy[kind].includes(event)
        : status === operationGoals[kind] && reason === null;
    const outcome = isDone ? 'ok' : 'failed';
    return { kind, cause, outcome, seconds: Math.max(0, seconds) };
  };
  if (oldKind !== null) return row.kind === null ? ended(oldKind, oldCause!) : null;
  const isCreate = oldStatus === 'provisioning' && !oldAcknowledged && (status === 'running' || status === 'error');
  return isCreate ? ended('create', 'request') : null;
}
