import type { ClaimedTurn, ClaimedTurns } from '../turns/claimed-turns.ts';
import type { HookRow } from './hook-store.ts';

export interface ClaimedHookMessage extends ClaimedTurn {
  readonly event: string | null;
  readonly text: string;
  readonly isCut: boolean;
  readonly receivedAt: Date;
  readonly hook: Pick<HookRow, 'id' | 'accountId' | 'agentId' | 'name' | 'conversation'> & {
    readonly isSigned: boolean;
  };
}

/** Messages of hooks, as the maker of their turns sees them. A message that nobody began in time has failed. */
export type HookTurns = ClaimedTurns<ClaimedHookMessage>;
