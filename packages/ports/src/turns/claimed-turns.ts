/**
 * What waits for a turn of its agent, as who makes such turns sees it: runs of schedules, messages of hooks. What waits is claimed; a
 * claim's number fences what comes of it.
 */
export interface TurnClaim {
  readonly id: string;
  readonly claim: number;
}

export interface ClaimedTurn extends TurnClaim {
  /** Claims before this one. */
  readonly attempts: number;
  /** The attempt before began, and what came of it is not known. */
  readonly mayHaveActed: boolean;
}

export interface TurnEnd {
  /** `skipped`: the agent did not run, and was not to be woken. */
  readonly outcome: 'answered' | 'failed' | 'skipped';
  /** One sentence for the owner; null with `answered`. */
  readonly reason: string | null;
  /** The whole answer; null: there is none. */
  readonly answer: string | null;
}

export interface ClaimOptions {
  readonly holder: string;
  readonly host: string;
  readonly limit: number;
  readonly leaseMs: number;
  /** Ids of the process's own. */
  readonly except: readonly string[];
}

export interface Postponement {
  readonly afterMs: number;
  readonly reason: string;
  /** The turn had begun. */
  readonly mayHaveActed: boolean;
}

/** How long it may wait for its first attempt, and how much is kept of what has ended. */
export interface TidyBounds {
  readonly maxWaitMs: number;
  /** Of one schedule or hook. */
  readonly kept: number;
  readonly maxAgeMs: number;
}

export interface ClaimedTurns<Piece extends ClaimedTurn> {
  /**
   * Claims what waits, of agents that are on `host` or on none: at most `limit`, one of an agent at a time, longest due first but no
   * account before all others. A claim ends after `leaseMs` unless renewed.
   */
  claim(options: ClaimOptions): Promise<readonly Piece[]>;
  /** Gives the ids whose claims hold on. */
  renew(claims: readonly TurnClaim[], leaseMs: number): Promise<ReadonlySet<string>>;
  /**
   * Ends it: its answer where it belongs, its event and the lines of the agent's log in one transaction. False: the claim was lost, and
   * nothing is written. An answer that its conversation does not take makes it failed.
   */
  end(claim: TurnClaim, end: TurnEnd): Promise<boolean>;
  /** Ends the claim alone; what was claimed waits so long. False: the claim was lost. */
  postpone(claim: TurnClaim, wait: Postponement): Promise<boolean>;
  /** Ends what nobody began within `maxWaitMs`. Deletes what is old beyond the bounds, in short steps. */
  tidy(bounds: TidyBounds): Promise<void>;
  /** Calls back when there may be something to do. */
  onWork(listener: () => void): () => void;
}
