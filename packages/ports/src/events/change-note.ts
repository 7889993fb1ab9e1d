import type { Happening } from '@lodge/domain';
import type { By } from './by.ts';

/** What is written with a change that somebody asked for, in its transaction. Without one the change's own event is written. */
export interface ChangeNote {
  readonly event: Happening;
  readonly by: By;
  /** Key of the idempotent request (`IdempotencyStore`) whose effect this is. */
  readonly idempotencyKey?: string;
}

/** Of a change whose event the store alone can tell in full. */
export type ActorNote = Omit<ChangeNote, 'event'>;
