import type { EventData } from '@lodge/domain';
import type { By, EventTarget } from './by.ts';

/** An event that somebody caused. */
export interface AuditEvent extends By {
  /**
   * Rises in the order in which events of one account become visible. A reader who has read up to one id misses none below
   * it.
   */
  readonly id: bigint;
  readonly accountId: string;
  /** Type of the event, such as `api_key.created`. */
  readonly action: string;
  readonly target: EventTarget | null;
  readonly at: Date;
  readonly details: EventData;
}

export interface AuditQuery {
  readonly accountId: string;
  readonly limit: number;
  /** Events after this id (`asc`) or before it (`desc`). */
  readonly from?: bigint;
  readonly direction: 'asc' | 'desc';
  /** A type, a family such as `api_key.*`, or `*`. */
  readonly action?: string;
  readonly actorKind?: AuditEvent['actor']['kind'];
  readonly actorId?: string;
  readonly targetId?: string;
}
