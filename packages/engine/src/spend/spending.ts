import type { Log } from '@lodge/ports';
import type { Database } from '@lodge/store/database';
import { appendAgentEvent } from '@lodge/store/events';
import { Sleeper } from './sleeper.ts';
import type { Spend } from './spend.ts';
import { defaultLoopBounds, Turns } from '../turns/loop-guard.ts';
import type { LoopBounds } from '../turns/loop-guard.ts';

export interface SpendingDeps {
  readonly database: Database;
  readonly log: Log;
  /** Without it there are no spend limits. */
  readonly spend?: Pick<Spend, 'asleep' | 'note'>;
  /** When model calls count as a loop (`defaultLoopBounds`). */
  readonly loopBounds?: LoopBounds;
}

export interface Spending {
  readonly spend: Pick<Spend, 'asleep'>;
  readonly turns: Turns;
  readonly sleeper: Sleeper;
}

const unlimited = { asleep: () => Promise.resolve(null), note: () => Promise.resolve() };

/** Watches over the model calls of this host's agents. */
export function createSpending({ database, log, spend = unlimited, loopBounds }: SpendingDeps): Spending {
  const sleeper = new Sleeper({ database, spend, log });
  const turns = new Turns({
    log,
    bounds: loopBounds ?? defaultLoopBounds,
    tell: (id, message) =>
      database.transaction((trx) => appendAgentEvent(trx, id, { type: 'agent.loop_detected', data: { message } })),
    sleep: (id) => sleeper.want(id),
    note: (call) => spend.note(call),
  });
  return { spend, turns, sleeper };
}
