import type { Happening } from '@lodge/domain';
import type { By } from './by.ts';

/**
 * The event and the actor, written in the transaction of a requested change. Without a note the store writes the change's
 * own event.
 */
export interface ChangeNote {
  readonly event: Happening;
  readonly by: By;
  /** Key of the idempotent request (`IdempotencyStore`) whose effect this is. */
  readonly idempotencyKey?: string;
}

/** A note for a change whose event only the store can describe in full. */
export type ActorNote = Omit<ChangeNote, 'event'>;
