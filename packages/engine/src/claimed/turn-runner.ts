/** Makes turns of the work that waits in the store (`ClaimedWork`), one attempt after another, and forgets old work. */
import type { ClaimedTurn, ClaimedTurns } from '@lodge/ports';
import { Periodic } from '../periodic.ts';
import { attempt } from './attempt.ts';
import { attemptOf } from './task.ts';
import type { TaskDeps } from './task.ts';
import type { TurnBounds } from './turn-bounds.ts';
import { ClaimedWork } from './work.ts';

/** Dependencies for making turns. */
export interface TurnRunnerDeps extends Pick<TaskDeps<ClaimedTurn>, 'agents' | 'runTurn' | 'log'> {
  /** Names this process among those that may make turns. */
  readonly holder: string;
  /** Names this host: an agent's machine is on one. */
  readonly host: string;
}

export interface TurnRunnerParts<Piece extends ClaimedTurn>
  extends TurnRunnerDeps, Pick<TaskDeps<Piece>, 'taskOf' | 'what'> {
  readonly turns: ClaimedTurns<Piece>;
  readonly bounds: TurnBounds;
  /** Runs with each look, before anything is claimed. */
  readonly before?: () => Promise<unknown>;
  /** Further rounds. */
  readonly rounds?: readonly Periodic[];
}

export class TurnRunner<Piece extends ClaimedTurn> {
  private readonly work: ClaimedWork<Piece>;
  private readonly rounds: readonly Periodic[];

  constructor(parts: TurnRunnerParts<Piece>) {
    const { turns, bounds, holder, host, what, before, rounds = [], log } = parts;
    const { leaseMs } = bounds;
    const how = attemptOf(parts);
    this.work = new ClaimedWork({
      bounds,
      ...(before && { before }),
      claim: (limit, except) => turns.claim({ holder, host, limit, leaseMs, except }),
      renew: (claims) => turns.renew(claims, leaseMs),
      perform: (claimed, cut) => attempt(how, claimed, cut),
      onWork: (listener) => turns.onWork(listener),
      losesClaimsOnWork: true,
      what,
      fields: how.fields,
      log,
    });
    const tidying = new Periodic({
      everyMs: bounds.tidyEveryMs,
      log,
      failed: `${what}: old ones not deleted; it will be repeated`,
      round: () => turns.tidy(bounds),
    });
    this.rounds = [...rounds, tidying];
  }

  start(): void {
    for (const round of this.rounds) round.start();
    this.work.start();
  }

  /** Resolves when no work is running any more. Claims outlast the last grace period of the turns without being renewed. */
  async stop(): Promise<void> {
    await Promise.all([this.work.stop(), ...this.rounds.map((round) => round.stop())]);
  }
}
