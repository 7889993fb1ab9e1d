/** Makes turns of the work that waits in the store (`ClaimedWork`), one attempt after another, and deletes old work. */
import { claimWork, deleteEnded, renewWork } from '@lodge/store/work';
import type { ClaimedPiece, WorkKind } from '@lodge/store/work';
import { Periodic } from '../periodic.ts';
import { attempt } from './attempt.ts';
import type { LoopBounds } from './bounds.ts';
import { ClaimedWork } from './claimed-work.ts';
import { kindOf } from './kind.ts';
import type { Kind, Kinds } from './kind.ts';
import { attemptOf } from './task.ts';
import type { TaskDeps } from './task.ts';

export interface WorkRunnerDeps extends TaskDeps {
  readonly kinds: Kinds;
  readonly bounds: LoopBounds;
  /** Names this process among those that may make turns. */
  readonly holder: string;
  /** Names this host: an agent's machine is on one. */
  readonly host: string;
  /** Calls back when there may be work, or what it is for may be gone. */
  readonly onWork: (listener: () => void) => () => void;
}

const maxVain = 1_000;

export function createWorkRunner(deps: WorkRunnerDeps) {
  const { kinds, bounds, holder, host, database, onWork, log } = deps;
  const { leaseMs } = bounds;
  const all = Object.entries(kinds) as unknown as readonly (readonly [WorkKind, Kind<ClaimedPiece>])[];
  const attempts = new Map(all.map(([name, kind]) => [name, attemptOf(deps, kind)]));
  const work = new ClaimedWork<ClaimedPiece, WorkKind>({
    bounds,
    places: Object.fromEntries(all.map(([name, kind]) => [name, kind.bounds.atOnce])),
    kindOf: ({ kind }) => kind,
    claim: (places, except) => database.transaction((trx) => claimWork(trx, { holder, host, places, leaseMs, except })),
    renew: (claims) => database.repeatable((db) => renewWork(db, claims, leaseMs)),
    perform: (piece, cut) => attempt(attempts.get(piece.kind)!, piece, cut),
    onWork,
    losesClaimsOnWork: true,
    what: 'work of agents',
    fields: (piece) => kindOf(kinds, piece).taskOf(piece).fields,
    log,
  });
  const tidying = new Periodic({
    everyMs: bounds.tidyEveryMs,
    log,
    failed: 'old work was not deleted; it will be repeated',
    async round() {
      for (const [name, kind] of all) {
        for (let n = 0; n < maxVain && (await database.transaction((trx) => kind.endVain(trx))); n += 1);
        await deleteEnded(database, name, kind.bounds);
      }
    },
  });
  return {
    start(): void {
      tidying.start();
      work.start();
    },
    /** Resolves when no work is running any more. Claims outlast the last grace period of the turns without being renewed. */
    stop: () => Promise.all([work.stop(), tidying.stop()]),
  };
}
