/** A kind of work that is turns of agents: what it adds to the queue. Each function of a transaction is the whole of it. */
import type { AgentRow } from '@lodge/store/agents';
import type { Transaction } from '@lodge/store/database';
import type { ClaimedPiece, Postponement, WorkClaim } from '@lodge/store/work';
import type { TurnBounds } from './bounds.ts';
import type { TurnOrigin } from '../turns/run-turn.ts';

/** The turn that a piece asks for. */
export interface Task {
  readonly accountId: string;
  readonly agentId: string;
  /** Null or absent: the agent itself. */
  readonly member?: string | null;
  readonly conversation: string;
  readonly origin: TurnOrigin;
  readonly text: string;
  /** Whether the task wakes an agent that does not run. */
  readonly wakes: (agent: AgentRow) => boolean;
  /** Why the task does not wake the agent. */
  readonly asleep: string;
  /** Fields for the log. */
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface TurnEnd {
  /** `skipped` means that the agent did not run and was not to be woken. */
  readonly outcome: 'answered' | 'failed' | 'skipped';
  /** One sentence for the owner; null with `answered`. */
  readonly reason: string | null;
  /** The whole answer, or null. */
  readonly answer: string | null;
}

export interface Kind<Piece extends ClaimedPiece> {
  readonly bounds: TurnBounds;
  /** Names the work in the log. */
  readonly what: string;
  taskOf(piece: Piece): Task;
  /** Does what comes before the turn, and returns the turn, or the end where there is none. `taskOf` if it is not given. */
  prepare?(piece: Piece, cut: AbortSignal): Promise<Task | TurnEnd>;
  /**
   * Ends a piece: delivers its answer and writes its event and log lines. False when the claim was lost; then nothing is
   * written. An answer that its conversation does not accept makes the work failed.
   */
  end(trx: Transaction, claim: WorkClaim, end: TurnEnd): Promise<boolean>;
  /** Ends only the claim, and the piece waits. False when the claim was lost. */
  postpone(trx: Transaction, claim: WorkClaim, wait: Postponement): Promise<boolean>;
  /** Ends one piece that nobody began within `bounds.maxWaitMs`. False when there is none. */
  endVain(trx: Transaction): Promise<boolean>;
}

export interface Kinds {
  readonly run?: Kind<Extract<ClaimedPiece, { readonly kind: 'run' }>>;
  readonly message?: Kind<Extract<ClaimedPiece, { readonly kind: 'message' }>>;
  readonly confirmation?: Kind<Extract<ClaimedPiece, { readonly kind: 'confirmation' }>>;
}

/** Returns the piece's kind, which made it. */
export const kindOf = (kinds: Kinds, piece: ClaimedPiece): Kind<ClaimedPiece> => kinds[piece.kind]!;
