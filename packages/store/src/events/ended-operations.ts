/**
 * Ends of operations, as the transaction that writes them finds them. The agent's row shows them, whoever began the
 * operation.
 */
import { operationGoals } from '@lodge/domain';
import type { AgentStatus, OperationCause, Verb } from '@lodge/domain';
import type { EndedOperation } from '@lodge/ports';

/** An agent's row before and after a transition, by the database's clock. */
export interface Transited {
  readonly accountId: string;
  readonly oldStatus: AgentStatus;
  readonly oldAcknowledged: boolean;
  readonly oldKind: Verb | null;
  readonly oldCause: OperationCause | null;
  /** Seconds since the operation began, or since the create when none is in progress. */
  readonly seconds: number;
  readonly status: AgentStatus;
  readonly kind: Verb | null;
  readonly reason: string | null;
}

/**
 * Returns the operation that ended with the transition, or null. A create ends when the agent first runs, or is in `error`.
 */
export function endedBy(row: Transited): EndedOperation | null {
  const { oldStatus, oldAcknowledged, oldKind, oldCause, status, reason, seconds } = row;
  const ended = (kind: EndedOperation['kind'], cause: OperationCause): EndedOperation => {
    // A failed upgrade leaves the agent running too, with a reason.
    const outcome = status === operationGoals[kind] && reason === null ? 'ok' : 'failed';
    return { kind, cause, outcome, seconds: Math.max(0, seconds) };
  };
  if (oldKind !== null) return row.kind === null ? ended(oldKind, oldCause!) : null;
  const isCreate = oldStatus === 'provisioning' && !oldAcknowledged && (status === 'running' || status === 'error');
  return isCreate ? ended('create', 'request') : null;
}
