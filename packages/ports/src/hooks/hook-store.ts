import type { ClaimedTurn, ClaimedTurns } from '../turns/claimed-turns.ts';

/** The `SecretBox` context of the secret with which a hook's senders sign. */
export const hookSecretContext = (hookId: string): string => `hook/${hookId}/secret`;

export interface ClaimedHookMessage extends ClaimedTurn {
  readonly event: string | null;
  readonly text: string;
  readonly isCut: boolean;
  readonly receivedAt: Date;
  readonly hook: {
    readonly id: string;
    readonly accountId: string;
    readonly agentId: string;
    readonly name: string;
    readonly conversation: string | null;
    readonly isSigned: boolean;
  };
}

/** Messages of hooks, as the maker of their turns sees them. A message that nobody began in time has failed. */
export type HookTurns = ClaimedTurns<ClaimedHookMessage>;
