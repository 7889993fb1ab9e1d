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

/** Messages of hooks, as who makes turns of them sees them. One that nobody began in time has failed. */
export type HookTurns = ClaimedTurns<ClaimedHookMessage>;
