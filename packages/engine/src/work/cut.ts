/**
 * Why a running turn is ended from outside.
 *
 * - `stop`: somebody in the conversation said `/stop`.
 * - `claim_lost`: another process may answer it by now.
 * - `closing`: this process ends.
 */
export type CutCause = 'stop' | 'claim_lost' | 'closing';

export class TurnCut extends Error {
  readonly cutBy: CutCause;
  constructor(cutBy: CutCause) {
    super(`the turn was cut: ${cutBy}`);
    this.name = 'TurnCut';
    this.cutBy = cutBy;
  }
}

/** The cause that has cut the turn; null where nothing has. */
export const cutOf = ({ aborted, reason }: AbortSignal): CutCause | null =>
  aborted && reason instanceof TurnCut ? reason.cutBy : null;
