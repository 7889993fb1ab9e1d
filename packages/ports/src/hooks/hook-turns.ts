/** Messages of hooks, as who makes turns of them sees them. A message that waits is claimed; a claim's number fences what comes of it. */
import type { HookMessageEnd } from '@lodge/domain';
import type { HookRow } from './hook-store.ts';

export interface ClaimedHookMessage {
  readonly id: string;
  readonly claim: number;
  /** Claims before this one. */
  readonly attempts: number;
  /** The attempt before began, and what came of it is not known. */
  readonly mayHaveActed: boolean;
  readonly event: string | null;
  readonly text: string;
  readonly isCut: boolean;
  readonly receivedAt: Date;
  readonly hook: Pick<HookRow, 'id' | 'accountId' | 'agentId' | 'name' | 'conversation'> & {
    readonly isSigned: boolean;
  };
}

export type HookClaim = Pick<ClaimedHookMessage, 'id' | 'claim'>;

export interface HookEnd {
  readonly state: HookMessageEnd;
  /** One sentence for the owner; null with `answered`. */
  readonly reason: string | null;
  /** The whole answer; null: there is none. */
  readonly answer: string | null;
}

export interface HookTurns {
  /**
   * Claims messages that wait, of agents that are on `host` or on none: at most `limit`, one of an agent at a time, longest due
   * first but no account before all others. Those in `except` are this process's own. A claim ends after `leaseMs` unless renewed.
   */
  claim(options: {
    readonly holder: string;
    readonly host: string;
    readonly limit: number;
    readonly leaseMs: number;
    readonly except: readonly string[];
  }): Promise<readonly ClaimedHookMessage[]>;
  /** Gives the ids whose claims hold on. */
  renew(claims: readonly HookClaim[], leaseMs: number): Promise<ReadonlySet<string>>;
  /**
   * Ends the message: its answer where it belongs, its event and the lines of the agent's log in one transaction. False: the claim was
   * lost, and nothing is written. An answer that its conversation does not take makes it `failed`.
   */
  end(claim: HookClaim, end: HookEnd): Promise<boolean>;
  /** Ends the claim without an end of the message, which waits so long. `mayHaveActed`: the turn had begun. */
  postpone(
    claim: HookClaim,
    wait: { readonly afterMs: number; readonly reason: string; readonly mayHaveActed: boolean },
  ): Promise<boolean>;
  /** Ends messages that nobody began within `maxWaitMs`: they have failed. Deletes old ones beyond the bounds, in short steps. */
  tidy(bounds: { readonly maxWaitMs: number; readonly kept: number; readonly maxAgeMs: number }): Promise<void>;
  /** Calls back when there may be something to do. */
  onWork(listener: () => void): () => void;
}
