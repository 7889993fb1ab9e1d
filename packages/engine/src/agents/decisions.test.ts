import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { admit, operationCauses, verbs } from '@lodge/domain';
import type { Admission, Verb } from '@lodge/domain';
import type { AgentRow } from '@lodge/store/agents';
import type { DecisionFacts } from './decisions.ts';
import { execute } from '@lodge/testkit/postgres';
import { Client } from 'pg';
import { admitAll, event, firstAccount, newAgent } from '../../../store/src/testing/fixture.ts';
import { testStore } from '../../../store/src/testing/test-store.ts';

const { database, store, another } = await testStore();
const other = await another();
const { agents } = store;
const account = await firstAccount(store.database);

const say = (verb: Verb) => (): Admission => ({ do: 'begin', kind: verb });
const byTable =
  (verb: Verb) =>
  ({ row }: DecisionFacts): Admission =>
    admit(verb, row);
/** The decision of idleness. */
const unlessKeptAwake = ({ isKeptAwake }: DecisionFacts): Admission =>
  isKeptAwake ? { do: 'nothing' } : { do: 'begin', kind: 'pause' };

/** Facts of an observation in a test. */
type Facts = Partial<Pick<AgentRow, 'status' | 'machine'>> & { readonly operation?: null };

async function agentIn(facts: Facts, given = {}): Promise<AgentRow> {
  const { id } = await agents.create(newAgent(account, given), admitAll);
  await observe(id, 1, facts);
  return (await agents.find(id))!;
}

async function observe(id: string, generation: number, facts: Facts): Promise<void> {
  await agents.lease(id, 'h', 60_000);
  assert.equal(await agents.observe(id, generation, 'h', { ...facts, event }), true);
}

/** Locks the agent's row as a transaction in progress does, and releases it on command. */
async function lockRow(id: string) {
  const client = new Client(database);
  await client.connect();
  await client.query('begin');
  await client.query(`select from agents where id = '${id}' for no key update`);
  return async (): Promise<void> => {
    await client.query('commit');
    await client.end();
  };
}

/** Waits until that many statements wait for a lock. */
async function waiting(count: number): Promise<void> {
  for (let tries = 0; tries < 500; tries += 1) {
    const [row] = await execute<{ count: number }>(
      database.connectionString,
      `select count(*)::int from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    if (row!.count >= count) return;
    await sleep(10);
  }
  assert.fail(`${count} statements wait`);
}

test('begin writes the operation with a new generation, and what decides sees the agent', async () => {
  const { id } = await agentIn({ status: 'running' });
  const seen: DecisionFacts[] = [];
  const result = await agents.begin(id, 'idle', (facts) => {
    seen.push(facts);
    return { do: 'begin', kind: 'pause' };
  });
  const { row, isKeptAwake, now } = seen[0]!;
  assert.equal(row.status, 'running');
  assert.equal(isKeptAwake, false);
  assert.ok(Math.abs(now.getTime() - Date.now()) < 60_000);
  assert.deepEqual(result!.admission, { do: 'begin', kind: 'pause' });
  const { operation, generation, status } = result!.row;
  assert.equal(operation!.kind, 'pause');
  assert.equal(operation!.cause, 'idle');
  assert.ok(Math.abs(operation!.startedAt.getTime() - Date.now()) < 60_000);
  assert.deepEqual([generation, status], [row.generation + 1, 'running']);
  assert.deepEqual(await agents.find(id), result!.row);
  assert.ok((await agents.present('h')).some((unsettled) => unsettled.id === id));
});

test('a decision that begins nothing, or throws, writes nothing', async () => {
  const before = await agentIn({ status: 'running' });
  for (const admission of [{ do: 'nothing' }, { do: 'join' }, { do: 'refuse', code: 'agent_transitioning' }] as const) {
    assert.deepEqual(await agents.begin(before.id, 'request', () => admission), { row: before, admission });
  }
  const broken = agents.begin(before.id, 'request', () => {
    throw new Error('broken');
  });
  await assert.rejects(broken, /broken/);
  assert.deepEqual(await agents.find(before.id), before);
});

test('an operation ends with the observation of its generation; an older one is void', async () => {
  const { id, generation } = await agentIn({ status: 'running' });
  await agents.begin(id, 'request', say('stop'));
  assert.equal(await agents.observe(id, generation, 'h', { event, status: 'stopped', operation: null }), false);
  await observe(id, generation + 1, { status: 'stopped', operation: null });
  const { status, operation } = (await agents.find(id))!;
  assert.deepEqual([status, operation], ['stopped', null]);
  assert.ok((await agents.present('h')).every((row) => row.id !== id));
});

test('an end of an operation is told once, by the process that wrote it, whoever began it', async () => {
  const [here, there]: string[][] = [[], []];
  store.onOperationEnded(({ kind, cause, outcome }) => here!.push(`${kind} ${cause} ${outcome}`));
  other.onOperationEnded(({ kind }) => there!.push(kind));
  const { id } = await agents.create(newAgent(account), admitAll);
  await agents.lease(id, 'h', 60_000);
  await agents.observe(id, 1, 'h', { status: 'running', acknowledged: true, event });
  await other.agents.begin(id, 'request', () => ({ do: 'begin', kind: 'stop' }));
  await agents.observe(id, 2, 'h', { status: 'provisioning', event });
  await agents.observe(id, 2, 'h', { status: 'running', operation: null, event });
  await agents.observe(id, 2, 'h', { status: 'running', operation: null, event });
  assert.deepEqual([here, there], [['create request ok', 'stop request failed'], []]);
});

test('nothing begins on an agent that is unknown, being deleted or deleted', async () => {
  const { id } = await agentIn({ status: 'running' });
  await agents.markDeleted(account, id);
  const never = (): Admission => assert.fail('not asked');
  assert.equal(await agents.begin(id, 'request', never), null);
  await agents.finishDelete(id, 'h');
  assert.equal(await agents.begin(id, 'request', never), null);
  assert.equal(await agents.takeKeepAwake(id, 'p', 1_000), null);
  for (const unknown of ['aaaaaaaaaaaa', 'x', "a' or '1'='1"]) {
    assert.equal(await agents.begin(unknown, 'request', never), null);
    assert.equal(await agents.takeKeepAwake(unknown, 'p', 1_000), null);
    assert.equal(await agents.change(account, unknown, () => assert.fail('not asked')), null);
  }
});

test('of many verbs at once, in two processes, one begins; those of its goal join, others are refused', async () => {
  const { id, generation } = await agentIn({ status: 'paused' });
  const asked = Array.from({ length: 24 }, (_, n) => (['start', 'resume', 'stop'] as const)[n % 3]!);
  const results = await Promise.all(
    asked.map((verb, n) => (n % 2 ? agents : other.agents).begin(id, 'request', byTable(verb))),
  );
  const of = (what: Admission['do']) => asked.filter((_, n) => results[n]!.admission.do === what);
  const [winner, ...more] = of('begin');
  assert.equal(more.length, 0);
  const isStop = winner === 'stop';
  assert.deepEqual([of('join').length, of('refuse').length], isStop ? [7, 16] : [15, 8]);
  assert.equal((await agents.find(id))!.generation, generation + 1);
});

test('a keep-awake lease is seen by every decision after it, until it is released or runs out', async () => {
  const { id } = await agentIn({ status: 'running' });
  const decide = async () =>
    (await agents.begin(id, 'idle', ({ isKeptAwake }) => ({ do: isKeptAwake ? 'join' : 'nothing' })))!.admission;
  const [isKeptAwake, free] = [{ do: 'join' }, { do: 'nothing' }];
  assert.deepEqual(await decide(), free);
  const row = await agents.takeKeepAwake(id, 'p', 60_000);
  assert.deepEqual(await agents.find(id), row);
  assert.ok(Math.abs(row!.lastActiveAt!.getTime() - Date.now()) < 60_000);
  await other.agents.takeKeepAwake(id, 'q', 60_000);
  assert.deepEqual(await decide(), isKeptAwake);
  await agents.endKeepAwake(id, 'p');
  assert.deepEqual(await decide(), isKeptAwake, 'the other process has it still');
  await other.agents.endKeepAwake(id, 'q');
  assert.deepEqual(await decide(), free);
  await agents.takeKeepAwake(id, 'p', 60_000);
  assert.deepEqual(await decide(), isKeptAwake);
  await execute(database.connectionString, `update agent_holds set until = now() - interval '1 ms'`);
  assert.deepEqual(await decide(), free);
  await agents.prolongKeepAwake([id, 'aaaaaaaaaaaa'], 'p', 60_000);
  assert.deepEqual(await decide(), isKeptAwake, 'prolonged, though it had run out');
  await agents.takeKeepAwake(id, 'p', 1);
  await sleep(20);
  assert.deepEqual(await decide(), isKeptAwake, 'a lease for less takes nothing away');
  await agents.endKeepAwake(id, 'p');
});

test('a decision that waited for a keep-awake lease sees it', async () => {
  const { id } = await agentIn({ status: 'running' });
  const unlock = await lockRow(id);
  const holding = agents.takeKeepAwake(id, 'p', 60_000);
  await waiting(1);
  const deciding = other.agents.begin(id, 'idle', unlessKeptAwake);
  await waiting(2);
  await unlock();
  assert.equal((await holding)!.operation, null);
  assert.equal((await deciding)!.admission.do, 'nothing');
});

test('a keep-awake lease that waited for a decision gives the row with the operation', async () => {
  const { id } = await agentIn({ status: 'running' });
  const unlock = await lockRow(id);
  const deciding = other.agents.begin(id, 'idle', unlessKeptAwake);
  await waiting(1);
  const holding = agents.takeKeepAwake(id, 'p', 60_000);
  await waiting(2);
  await unlock();
  assert.equal((await deciding)!.admission.do, 'begin');
  assert.equal((await holding)!.operation!.kind, 'pause');
});

test('holds and decisions that race never miss one another', async () => {
  const outcomes = { pausedFirst: 0, heldFirst: 0 };
  for (let round = 0; round < 60; round += 1) {
    const { id } = await agentIn({ status: 'running' });
    const [row, decided] = await Promise.all([
      agents.takeKeepAwake(id, 'p', 60_000),
      other.agents.begin(id, 'idle', unlessKeptAwake),
    ]);
    const begun = decided!.admission.do === 'begin';
    outcomes[begun ? 'pausedFirst' : 'heldFirst'] += 1;
    assert.equal(row!.operation !== null, begun);
  }
  assert.equal(outcomes.pausedFirst + outcomes.heldFirst, 60);
});

test('processes that prolong for the same agents in any order do not block each other', async () => {
  const ids = await Promise.all(Array.from({ length: 10 }, async () => (await agentIn({ status: 'running' })).id));
  await Promise.all(
    Array.from({ length: 40 }, (_, n) =>
      (n % 2 ? agents : other.agents).prolongKeepAwake(n % 2 ? ids : ids.toReversed(), `p${n % 2}`, 60_000),
    ),
  );
  for (const id of ids) assert.ok((await agents.find(id))!.lastActiveAt);
});

test('change writes what is named, keeps the generation, and a refusal writes nothing', async () => {
  const llmKeys = [
    { provider: 'anthropic', sealed: 's1', last4: 'aaaa' },
    { provider: 'openai', sealed: 's2', last4: 'bbbb' },
  ];
  const before = await agentIn({ status: 'running' }, { llmKeys, metadata: { a: '1' } });
  const change = {
    name: 'Other',
    description: 'd',
    model: 'openai/gpt-5',
    size: 'large',
    lifecycle: { ...before.lifecycle, idleTimeoutSeconds: 7, keepAwake: 'always' },
    metadata: { b: '2' },
  } as const;
  const changed = (await agents.change(account, before.id, () => change))!;
  assert.deepEqual(changed, { ...before, ...change, updatedAt: changed.updatedAt });
  assert.deepEqual(await agents.find(before.id), changed);
  const keys = (await agents.change(account, before.id, (row) => ({
    description: null,
    llmKeys: [
      row.llmKeys[0]!,
      { provider: 'openai', sealed: 's3', last4: 'cccc' },
      { provider: 'x', sealed: 's4', last4: '' },
    ],
  })))!;
  assert.equal(keys.description, null);
  assert.deepEqual(
    keys.llmKeys.map(({ provider, sealed }) => [provider, sealed]),
    [
      ['anthropic', 's1'],
      ['openai', 's3'],
      ['x', 's4'],
    ],
  );
  assert.deepEqual(keys.llmKeys[0], before.llmKeys[0], 'one that stays keeps its time');
  await assert.rejects(
    agents.change(account, before.id, () => {
      throw new Error('refused');
    }),
    /refused/,
  );
  assert.deepEqual(await agents.find(before.id), keys);
  assert.equal(await agents.change('other', before.id, () => assert.fail('not asked')), null);
  assert.deepEqual((await agents.change(account, before.id, () => ({ llmKeys: [] })))!.llmKeys, []);
});

test('changes that race all count', async () => {
  const { id } = await agentIn({ status: 'running' });
  await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      (n % 2 ? agents : other.agents).change(account, id, ({ metadata }) => ({
        metadata: { ...metadata, [`k${n}`]: 'v' },
      })),
    ),
  );
  assert.equal(Object.keys((await agents.find(id))!.metadata).length, 20);
});

test("the database takes every operation of the domain's closed sets, whole or not at all", async () => {
  const { id } = await agentIn({ status: 'running' });
  for (const verb of verbs) {
    for (const cause of operationCauses) {
      const { operation } = (await agents.begin(id, cause, say(verb)))!.row;
      assert.deepEqual([operation!.kind, operation!.cause], [verb, cause]);
    }
  }
  const violates = { code: '23514' };
  await assert.rejects(agents.begin(id, 'request', say('explode' as never)), violates);
  await assert.rejects(agents.begin(id, 'odd' as never, say('stop')), violates);
  const set = (columns: string) =>
    execute(database.connectionString, `update agents set ${columns} where id = '${id}'`);
  await assert.rejects(set('operation_kind = null'), violates);
  await assert.rejects(set('machine_vcpus = 2'), violates);
});

test('admission counts a start under way, and a machine that is larger than was asked for', async () => {
  const sizesOf = async (name: string) => {
    let count = 0;
    const look = agents.create(newAgent(account), ({ holders }) => {
      count = holders.filter(({ size, holdsMemory }) => size === name && holdsMemory).length;
      throw new Error('only looking');
    });
    await assert.rejects(look, /only looking/);
    return count;
  };
  const [small, large] = [await sizesOf('small'), await sizesOf('large')];
  const { id, generation } = await agentIn({ status: 'stopped' }, { size: 'small' });
  assert.equal(await sizesOf('small'), small);
  await agents.begin(id, 'request', say('start'));
  assert.equal(await sizesOf('small'), small + 1);
  await observe(id, generation + 1, {
    status: 'running',
    operation: null,
    machine: { vcpus: 2, memoryMib: 7_000, diskGib: 10 },
  });
  assert.deepEqual([await sizesOf('small'), await sizesOf('large')], [small, large + 1]);
  await agents.begin(id, 'request', say('stop'));
  assert.equal(await sizesOf('large'), large + 1, 'until it has stopped');
  await observe(id, generation + 2, { status: 'stopped', operation: null });
  assert.deepEqual([await sizesOf('small'), await sizesOf('large')], [small, large]);
});
