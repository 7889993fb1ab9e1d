/**
 * Makes turns of what waits: the store, a runner, the turn and the gateway's client, put together as the engine does. Its agents have
 * no machines: all of them answer at one gateway.
 */
import { dialTo } from '@lodge/guest';
import type { AgentRow } from '@lodge/store/agents';
import { createGateway } from '@lodge/runtimes';
import type { LiveAgent } from '@lodge/engine';
import { defaultHookBounds } from '../../../packages/engine/src/hooks/bounds.ts';
import { hookMessages } from '../../../packages/engine/src/hooks/messages.ts';
import { defaultScheduleBounds } from '../../../packages/engine/src/schedules/bounds.ts';
import { createFiring } from '../../../packages/engine/src/schedules/firing.ts';
import { scheduleRuns } from '../../../packages/engine/src/schedules/runs.ts';
import { defaultLoopBounds } from '../../../packages/engine/src/work/bounds.ts';
import { createWorkRunner } from '../../../packages/engine/src/work/runner.ts';
import { createRunTurn } from '../../../packages/engine/src/turns/run-turn.ts';
import { openTestStore } from '../../../packages/store/src/testing/agents-fixture.ts';

export interface TurnsJob {
  readonly of: 'hooks' | 'schedules';
  readonly connectionString: string;
  readonly gatewayUrl: string;
}

const log = {
  debug() {},
  info() {},
  warn() {},
  error: (fields: object, message: string) => console.error(message, fields),
};

export async function makeTurns({ of, connectionString, gatewayUrl }: TurnsJob): Promise<void> {
  const store = await openTestStore({ connectionString, log });
  const live = (row: AgentRow): LiveAgent => ({
    row,
    endpoint: ({ conversation }) => ({
      dial: dialTo('127.0.0.1'),
      baseUrl: gatewayUrl,
      headers: { 'x-conversation': conversation ?? '' },
      model: 'openclaw',
      takesPictures: false,
    }),
    turnFailure: () => ({ kind: 'turn_failed' }),
    guest: { address: '', dial: dialTo(''), credential: () => Promise.resolve(null) },
    web: () => null,
    note: { take: async () => null, putBack: async () => undefined },
    flush: () => Promise.resolve(),
    release: () => undefined,
  });
  const agents = {
    async get(_accountId: string, id: string) {
      return (await store.agents.find(id))!;
    },
    async use(_accountId: string, id: string) {
      return live((await store.agents.find(id))!);
    },
    turn: (_id: string, signal: AbortSignal) => ({ signal, refusal: null, hasModelAnswered: false }),
  };
  const runTurn = createRunTurn({ agents, gateway: createGateway() });
  const kinds =
    of === 'hooks'
      ? { message: hookMessages({ ...defaultHookBounds, turnMs: 30_000, waitsMs: [200, 400] }) }
      : { run: scheduleRuns({ ...defaultScheduleBounds, turnMs: 30_000, waitsMs: [200, 400, 800] }) };
  const { database, changes } = store;
  const onWork = (listener: () => void) => changes.on('work', listener);
  const bounds = { ...defaultLoopBounds, leaseMs: 2_000, lookEveryMs: 200 };
  createWorkRunner({
    database,
    onWork,
    kinds,
    bounds,
    agents,
    runTurn,
    log,
    holder: String(process.pid),
    host: 'here',
  }).start();
  if (of === 'schedules') {
    const firing = createFiring({ database, bounds: defaultScheduleBounds, lookEveryMs: 200, log });
    for (const round of firing) round.start();
  }
}
