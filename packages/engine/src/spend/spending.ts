import type { AgentLogStore, AgentStore, Log, SpendStore } from '../ports/index.ts';
import { Sleeper } from './sleeper.ts';
import { defaultLoopBounds, Turns } from './turns.ts';
import type { LoopBounds } from './turns.ts';

export interface SpendingDeps {
  readonly store: AgentStore;
  readonly logs: AgentLogStore;
  readonly log: Log;
  /** Without it nobody's spending is limited. */
  readonly spend?: Pick<SpendStore, 'asleep' | 'note'>;
  /** When model calls are a loop (`defaultLoopBounds`). */
  readonly loopBounds?: LoopBounds;
}

export interface Spending {
  readonly spend: Pick<SpendStore, 'asleep'>;
  readonly turns: Turns;
  readonly sleeper: Sleeper;
}

const unlimited = { asleep: () => Promise.resolve(null), note: () => Promise.resolve() };

/** What watches over the model calls of this host's agents. */
export function createSpending({ store, logs, log, spend = unlimited, loopBounds }: SpendingDeps): Spending {
  const sleeper = new Sleeper({ store, spend, log });
  const turns = new Turns({
    log,
    bounds: loopBounds ?? defaultLoopBounds,
    tell: (id, message) => logs.append(id, [{ level: 'warn', source: 'system', message }]),
    sleep: (id) => sleeper.want(id),
    note: (call) => spend.note(call),
  });
  return { spend, turns, sleeper };
}
