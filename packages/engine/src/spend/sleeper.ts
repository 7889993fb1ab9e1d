/**
 * Puts agents to sleep whose spend limit asks for it, once the limit is reached and nothing keeps them awake. The list is in
 * memory: an agent that a restart forgets shows itself with its next model call, which is refused as well.
 */
import { Rounds } from '../periodic.ts';
import type { Log } from '@lodge/ports';
import type { Database } from '@lodge/store/database';
import { beginOperation } from '../agents/decisions.ts';
import type { Spend } from './spend.ts';

export interface SleeperDeps {
  readonly database: Database;
  readonly spend: Pick<Spend, 'asleep'>;
  readonly log: Log;
}

const lookEveryMs = 1_000;

export class Sleeper extends Rounds {
  private readonly deps: SleeperDeps;
  private readonly wanted = new Set<string>();

  constructor(deps: SleeperDeps) {
    super({
      everyMs: lookEveryMs,
      log: deps.log,
      failed: 'agents at their spend limit were not put to sleep; it will be repeated',
    });
    this.deps = deps;
  }

  protected async round(): Promise<void> {
    for (const id of this.wanted) if (await this.isDone(id)) this.wanted.delete(id);
  }

  want(agentId: string): void {
    this.wanted.add(agentId);
  }

  /** Whether the agent sleeps. Also true when it need not: it does not run, or its limit was raised. */
  private async isDone(id: string): Promise<boolean> {
    if ((await this.deps.spend.asleep(id, new Date())) === null) return true;
    const begun = await beginOperation(this.deps.database, id, 'limit', ({ row, isKeptAwake }) =>
      row.status === 'running' && row.operation === null && !isKeptAwake
        ? { do: 'begin', kind: 'pause' }
        : { do: 'nothing' },
    );
    if (begun === null || begun.admission.do === 'begin') return true;
    return begun.row.status !== 'running' && begun.row.operation === null;
  }
}
