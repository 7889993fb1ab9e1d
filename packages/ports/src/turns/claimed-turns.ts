/**
 * Work that waits for a turn of its agent, as the maker of turns sees it: runs of schedules, messages of hooks. Waiting work
 * is claimed, and the claim's number fences its results.
 */
export interface TurnClaim {
  readonly id: string;
  readonly claim: number;
}

export interface ClaimedTurn extends TurnClaim {
  /** Number of earlier claims. */
  readonly attempts: number;
  /** Whether the last attempt began and its result is unknown. */
  readonly mayHaveActed: boolean;
}

export interface TurnEnd {
  /** `skipped` means that the agent did not run and was not to be woken. */
  readonly outcome: 'answered' | 'failed' | 'skipped';
  /** One sentence for the owner; null with `answered`. */
  readonly reason: string | null;
  /** The whole answer, or null. */
  readonly answer: string | null;
}

export interface ClaimOptions {
  readonly holder: string;
  readonly host: string;
  readonly limit: number;
  readonly leaseMs: number;
  /** Ids that this process works on itself. */
  readonly except: readonly string[];
}

export interface Postponement {
  readonly afterMs: number;
  readonly reason: string;
  /** Whether the turn had begun. */
  readonly mayHaveActed: boolean;
}

/** Bounds on the wait for the first attempt, and on ended work. */
export interface TidyBounds {
  readonly maxWaitMs: number;
  /** Ended work of one schedule or hook that is kept. */
  readonly kept: number;
  readonly maxAgeMs: number;
}

export interface ClaimedTurns<Piece extends ClaimedTurn> {
  /**
   * Claims waiting work of agents on `host` or on none: at most `limit`, one piece of an agent at a time. The longest due
   * come first, but no account before all others. A claim ends after `leaseMs` unless renewed.
   */
  claim(options: ClaimOptions): Promise<readonly Piece[]>;
  /** Renews claims and returns the ids of those still held. */
  renew(claims: readonly TurnClaim[], leaseMs: number): Promise<ReadonlySet<string>>;
  /**
   * Ends the work: delivers its answer and writes its event and log lines in one transaction. False when the claim was lost;
   * then nothing is written. An answer that its conversation does not accept makes the work failed.
   */
  end(claim: TurnClaim, end: TurnEnd): Promise<boolean>;
  /** Ends only the claim, and the work waits for `afterMs`. False when the claim was lost. */
  postpone(claim: TurnClaim, wait: Postponement): Promise<boolean>;
  /** Ends work that nobody began within `maxWaitMs`. Deletes old work over the bounds, in short steps. */
  tidy(bounds: TidyBounds): Promise<void>;
  /** Calls back when there may be work. */
  onWork(listener: () => void): () => void;
}
