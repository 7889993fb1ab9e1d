/**
 * Puts unused agents to sleep: a running one is paused, a paused one is stopped, as their lifecycle says. The clock is the
 * database's. Each decision is taken again under the agent's row lock, which shows what keeps the agent awake. So a request
 * that arrives meanwhile either comes before the decision and prevents it, or comes after it and wakes the agent.
 */
import { idleVerb } from '@lodge/domain';
import type { DiskKeeper } from '../disk/keeper.ts';
import { Rounds } from '../../periodic.ts';
import type { Log } from '@lodge/ports';
import { idleAgents } from '@lodge/store/agents';
import type { Database } from '@lodge/store/database';
import { beginOperation } from '../../agents/decisions.ts';

export interface IdlenessDeps {
  readonly database: Database;
  readonly disk: Pick<DiskKeeper, 'isShort'>;
  readonly log: Log;
  readonly holder: string;
  readonly lookEveryMs: number;
}

const maxAtATime = 32;
/** Pause before an agent is asked again after its operation achieved nothing. */
const notAgainWithinMs = 10_000;

export class Idleness extends Rounds {
  private readonly deps: IdlenessDeps;
  private readonly begunAt = new Map<string, number>();

  constructor(deps: IdlenessDeps) {
    super({ everyMs: deps.lookEveryMs, log: deps.log, failed: 'idle agents not looked for; it will be repeated' });
    this.deps = deps;
  }

  protected async round(): Promise<void> {
    const { database, disk, holder } = this.deps;
    const now = Date.now();
    for (const [key, at] of this.begunAt) if (now - at > notAgainWithinMs) this.begunAt.delete(key);
    for (const { id, verb } of await idleAgents(database, holder, maxAtATime)) {
      // A stop writes the agent's memory to the disk. While paused, the agent uses no more of it.
      if (verb === 'stop' && disk.isShort) continue;
      const key = `${verb} ${id}`;
      if (this.begunAt.has(key)) continue;
      const begun = await beginOperation(database, id, 'idle', ({ row, isKeptAwake, now: databaseNow }) =>
        idleVerb({ ...row, isKeptAwake }, databaseNow) === verb ? { do: 'begin', kind: verb } : { do: 'nothing' },
      );
      if (begun?.admission.do === 'begin') this.begunAt.set(key, now);
    }
  }
}
