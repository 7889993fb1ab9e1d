import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultLifecycle } from '@lodge/domain';
import type { AgentStatus, Lifecycle } from '@lodge/domain';
import type { Observation } from './facts.ts';
import { execute } from '@lodge/testkit/postgres';
import { admitAll, event, firstAccount, newAgent } from '../testing/fixture.ts';
import { testStore } from '../testing/test-store.ts';

const { database, store } = await testStore();
const { agents } = store;
const account = await firstAccount(store.database);

interface Given {
  readonly host?: string;
  readonly status?: 'running' | 'paused';
  readonly lifecycle?: Partial<Lifecycle>;
  /** Times in seconds ago. */
  readonly active?: number;
  readonly paused?: number;
  readonly facts?: Pick<Observation, 'statusReason' | 'startedAt'> & { readonly status?: AgentStatus };
}

const ago = (seconds: number): Date => new Date(Date.now() - seconds * 1_000);

/** Creates an agent with an age of one day. */
async function agent({ host = 'h', status = 'running', lifecycle, active, paused, facts }: Given): Promise<string> {
  const { id } = await agents.create(newAgent(account, { lifecycle: { ...defaultLifecycle, ...lifecycle } }), admitAll);
  await execute(
    database.connectionString,
    `update agents set created_at = created_at - interval '1 day' where id = '${id}'`,
  );
  await agents.lease(id, 'p', 60_000);
  const observed = {
    status,
    host,
    startedAt: ago(80_000),
    ...(paused === undefined ? {} : { pausedAt: ago(paused) }),
    ...facts,
    event,
  };
  assert.equal(await agents.observe(id, 1, 'p', observed), true);
  if (active !== undefined) {
    const at = ago(active).toISOString();
    await execute(database.connectionString, `update agents set last_active_at = '${at}' where id = '${id}'`);
  }
  return id;
}

let hosts = 0;
const newHost = (): string => `host-${(hosts += 1)}`;

test('a running agent is idle after its time without activity, a paused one after its time of pause', async () => {
  const host = newHost();
  const lifecycle = { idleTimeoutSeconds: 45, stopAfterSeconds: 1_800 };
  const used = (given: Given) => agent({ host, lifecycle, ...given });
  const [a, b, c, d] = [
    await used({ active: 50 }),
    await used({}),
    await used({ status: 'paused', paused: 1_900, active: 2_000 }),
    await used({ status: 'paused', paused: 0, lifecycle: { stopAfterSeconds: 0 } }),
  ];
  await used({ active: 40 });
  await used({ active: 50, facts: { startedAt: ago(10) } });
  await used({ status: 'paused', paused: 1_700, active: 2_000 });
  await used({ status: 'paused', paused: 1_900, active: 1_700 });
  assert.deepEqual(await agents.idle(host, 10), [
    { id: b, verb: 'pause' },
    { id: c, verb: 'stop' },
    { id: a, verb: 'pause' },
    { id: d, verb: 'stop' },
  ]);
  assert.deepEqual(await agents.idle(host, 1), [{ id: b, verb: 'pause' }], 'longest idle first');
  assert.deepEqual(await agents.idle('elsewhere', 10), []);
});

test('nobody is idle who is kept awake, held, changing, being deleted, or neither running nor paused', async () => {
  const host = newHost();
  for (const status of ['running', 'paused'] as const) {
    await agent({ host, status, active: 9_000, paused: 9_000, lifecycle: { keepAwake: 'always' } });
    await agent({ host, status, active: 9_000, paused: 9_000, lifecycle: { idleTimeoutSeconds: 0 } });
    const [changing, dying, keptAwake] = [
      await agent({ host, status, active: 9_000, paused: 9_000 }),
      await agent({ host, status, active: 9_000, paused: 9_000 }),
      await agent({ host, status, paused: 9_000, lifecycle: { idleTimeoutSeconds: 1, stopAfterSeconds: 1 } }),
    ];
    await agents.begin(changing, 'request', () => ({ do: 'begin', kind: 'stop' }));
    await agents.markDeleted(account, dying);
    await agents.takeKeepAwake(keptAwake, 'p', 60_000);
    await execute(
      database.connectionString,
      `update agents set last_active_at = now() - interval '1 hour' where id = '${keptAwake}'`,
    );
  }
  const statusReason = { code: 'vm_crashed', message: 'm', at: new Date() } as const;
  for (const status of ['stopped', 'error', 'provisioning'] as const)
    await agent({ host, facts: { status, statusReason } });
  assert.deepEqual(await agents.idle(host, 100), []);
});

test('the end of a keep-awake lease makes an agent idle again, counted from then', async () => {
  const host = newHost();
  const id = await agent({ host, active: 9_000 });
  await agents.takeKeepAwake(id, 'p', 60_000);
  assert.deepEqual(await agents.idle(host, 10), []);
  await agents.endKeepAwake(id, 'p');
  assert.deepEqual(await agents.idle(host, 10), []);
  await execute(
    database.connectionString,
    `update agents set last_active_at = now() - interval '50 s' where id = '${id}'`,
  );
  assert.deepEqual(await agents.idle(host, 10), [{ id, verb: 'pause' }]);
});

test('paused agents can be evicted, least recently active first, save those kept awake, held or changing', async () => {
  const host = newHost();
  const [recent, never, old] = [
    await agent({ host, status: 'paused', active: 10, paused: 5 }),
    await agent({ host, status: 'paused', paused: 5 }),
    await agent({ host, status: 'paused', active: 500, paused: 5 }),
  ];
  await agent({ host, active: 500 });
  await agent({ host, status: 'paused', lifecycle: { keepAwake: 'always' } });
  const [keptAwake, changing, dying] = [
    await agent({ host, status: 'paused' }),
    await agent({ host, status: 'paused' }),
    await agent({ host, status: 'paused' }),
  ];
  await agents.takeKeepAwake(keptAwake, 'q', 60_000);
  await agents.begin(changing, 'request', () => ({ do: 'begin', kind: 'resume' }));
  await agents.markDeleted(account, dying);
  const ids = (await agents.evictable(host, 10)).map(({ id }) => id);
  assert.deepEqual(ids, [never, old, recent]);
  assert.deepEqual(
    (await agents.evictable(host, 1)).map(({ id }) => id),
    [never],
  );
  assert.deepEqual(await agents.evictable('elsewhere', 10), []);
});
