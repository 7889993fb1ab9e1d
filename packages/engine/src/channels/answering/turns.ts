/** Turns of conversations in which messages wait: who has one, and its end. */
import type { Store } from '@lodge/store';
import { asidesOf, postponeClaim, renewTurns, stopsWanted, tellTurn } from '@lodge/store/channels';
import type { ClaimOptions } from '@lodge/store/channels';
import type { WorkClaim } from '@lodge/store/work';
import { claimTurns } from './claiming.ts';
import { endAside, endTurn } from './ending.ts';
import type { AsideAnswer, TurnResult } from './ending.ts';

export type ChannelTurns = ReturnType<typeof createTurns>;

/** Each is one transaction. */
export const createTurns = ({ database, changes }: Pick<Store, 'database' | 'changes'>) => ({
  claim: (options: ClaimOptions) => database.transaction((trx) => claimTurns(trx, options)),
  /** Renews claims and returns the ids of those still held. */
  renew: (claims: readonly WorkClaim[], leaseMs: number) =>
    database.repeatable((db) => renewTurns(db, claims, leaseMs)),
  tell: (held: WorkClaim, said: string) => database.repeatable((db) => tellTurn(db, held, said)),
  /** False when the claim was lost; then nothing is written. */
  answer: (held: WorkClaim, result: TurnResult) => database.transaction((trx) => endTurn(trx, held, result)),
  postpone: (held: WorkClaim, at: Date, reason: string, lackedRoom = false) =>
    database.transaction((trx) => postponeClaim(trx, held, at, reason, lackedRoom)),
  stopsWanted: (claims: readonly WorkClaim[]) => database.repeatable((db) => stopsWanted(db, claims)),
  asides: (limit: number) => database.repeatable((db) => asidesOf(db, limit)),
  answerAside: (id: string, answer: AsideAnswer) => database.transaction((trx) => endAside(trx, id, answer)),
  /** Calls back when messages may wait. */
  onWork: (listener: () => void) => changes.on('channel_work', () => listener()),
});
