/** The collector on a real database and the fake driver: a guest's lines are kept, once, without secrets, and in bounds. */
import assert from 'node:assert/strict';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { after, before, test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { defaultLifecycle, makeAgentId } from '@lodge/domain';
import type { AgentStatus, EgressMode } from '@lodge/domain';
import type { AgentRuntime, RefusedConnection, RuntimeLogLine } from '@lodge/ports';
import type { AgentRow } from '@lodge/store/agents';
import { testDatabase } from '@lodge/testkit/postgres';
import type { TestDatabase } from '@lodge/testkit/postgres';
import { createLogCollector } from './collector.ts';
import type { CollectorTiming } from './collector.ts';
import { firstAccount } from '../../../store/src/testing/fixture.ts';
import { logPage, logPosition, logWriter } from '@lodge/store/logs';
import { openTestStore } from '../../../store/src/testing/agents-fixture.ts';
import type { TestStore } from '../../../store/src/testing/agents-fixture.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };
let database: TestDatabase;
let store: TestStore;
let accountId: string;

before(async () => {
  database = await testDatabase();
  store = await openTestStore({ ...database, log: silent });
  accountId = await firstAccount(store.database);
});
after(async () => {
  await store.close();
  await database.drop();
});

let addresses = 0;

async function newAgent(
  holder: string,
  status: AgentStatus = 'running',
  mode: EgressMode = 'public',
): Promise<AgentRow> {
  const id = makeAgentId((below) => Math.floor(Math.random() * below));
  const given = {
    id,
    accountId,
    name: 'A',
    description: null,
    runtimeKind: 'runtime_a',
    model: 'p/m',
    size: 'small',
    egress: { mode, allow: [] },
  } as const;
  await store.agents.create({ ...given, lifecycle: defaultLifecycle, metadata: {}, llmKeys: [] }, () => undefined);
  await store.agents.lease(id, holder, 60_000);
  addresses += 1;
  const event = { type: 'agent.operation_ended', data: { kind: null, cause: null } } as const;
  const facts = { event, status, host: holder, executionId: 'e1', vmAddress: `10.9.0.${addresses}` } as const;
  assert.equal(await store.agents.observe(id, 1, holder, facts), true);
  return (await store.agents.find(id))!;
}

/** Guests as the collector sees them: consoles by agent, logs by address. */
class Guests {
  readonly consoles = new Map<string, string>();
  readonly logs = new Map<string, RuntimeLogLine[]>();
  readonly refused = new Map<string, RefusedConnection[]>();
  readonly hanging = new Set<string>();
  reads = 0;

  readonly driver = {
    dial: () => Promise.reject(new Error('its log is read by its address')),
    guestCredential: () => Promise.resolve(null),
    pace: 1,
    readConsole: async (agentId: string): Promise<string> => {
      if (this.hanging.has(agentId)) return new Promise(() => undefined);
      const text = this.consoles.get(agentId) ?? '';
      this.consoles.set(agentId, '');
      return text;
    },
    readRefused: async (agentId: string) => ({ refused: this.refused.get(agentId)?.splice(0) ?? [], more: 0 }),
  };

  /** An offset is a number of lines here; a read returns 100 at most. */
  readonly runtime = {
    readLog: async ({ address }: { readonly address: string }, offset: number, signal: AbortSignal) => {
      this.reads += 1;
      if (this.hanging.has(address)) {
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
      }
      const lines = (this.logs.get(address) ?? []).slice(offset, offset + 100);
      return { lines, nextOffset: Math.min(offset, this.logs.get(address)?.length ?? 0) + lines.length };
    },
  } as unknown as AgentRuntime;

  print(agent: AgentRow, text: string): void {
    this.consoles.set(agent.id, (this.consoles.get(agent.id) ?? '') + text);
  }

  write(agent: AgentRow, ...messages: string[]): void {
    const lines = messages.map((message) => ({ at: null, level: 'info', message }) as const);
    this.logs.set(agent.vmAddress!, [...(this.logs.get(agent.vmAddress!) ?? []), ...lines]);
  }
}

const fast = { intervalMs: 20, pruneIntervalMs: 20, timeoutMs: 300 };

function collect(t: TestContext, holder: string, guests: Guests, timing: Partial<CollectorTiming> = {}) {
  const collector = createLogCollector({
    database: store.database,
    driver: guests.driver,
    runtimes: new Map([['runtime_a', guests.runtime]]),
    log: silent,
    bounds: { maxEntries: 5_000, maxBytes: 2 ** 30, maxAgeMs: 3_600_000 },
    holder,
    timing: { ...fast, ...timing },
  });
  collector.start();
  t.after(() => collector.stop());
  return collector;
}

async function messages({ id }: AgentRow): Promise<string[]> {
  const entries = await store.database.repeatable((db) =>
    logPage(db, { agentId: id, limit: 10_000, direction: 'asc' }),
  );
  return entries.map(({ source, message }) => `${source}: ${message}`);
}

async function until(agent: AgentRow, count: number): Promise<string[]> {
  for (let tries = 0; ; tries += 1) {
    const found = await messages(agent);
    if (found.length >= count) return found;
    assert.ok(tries < 3_000, `${found.length} of ${count}: ${found.slice(-3).join(' | ')}`);
    await sleep(20);
  }
}

async function untilSaid(agent: AgentRow, ...said: readonly string[]): Promise<string[]> {
  for (let tries = 0; ; tries += 1) {
    const found = await messages(agent);
    if (said.every((line) => found.includes(line))) return found;
    assert.ok(tries < 3_000, found.slice(-3).join(' | '));
    await sleep(20);
  }
}

test('console and runtime log of a running agent are kept, once each, plain and without secrets', async (t) => {
  const guests = new Guests();
  const agent = await newAgent('one');
  guests.print(agent, '\u001b[32mboot\u001b[0m ok\r\nhalf');
  guests.write(agent, 'ready', `key sk-${'a1B2'.repeat(10)} used`);
  collect(t, 'one', guests);
  await until(agent, 3);
  guests.print(agent, ' line\nlast words');
  guests.write(agent, 'more');
  const found = await untilSaid(agent, 'console: last words', 'gateway: more');
  assert.deepEqual(
    found.filter((line) => line.startsWith('gateway')),
    ['gateway: ready', 'gateway: key [redacted] used', 'gateway: more'],
  );
  const printed = found.filter((line) => line.startsWith('console')).map((line) => line.slice(9));
  assert.equal(printed[0], 'boot ok');
  assert.equal(printed.slice(1).join('|').replace('half|', 'half'), 'half line|last words');
  await sleep(100);
  assert.equal((await messages(agent)).length, found.length, 'nothing twice');
});

test('a new collector goes on where the last one ended', async (t) => {
  const guests = new Guests();
  const agent = await newAgent('restart');
  guests.write(agent, ...Array.from({ length: 150 }, (_, n) => `line ${n}`));
  const first = collect(t, 'restart', guests);
  await until(agent, 100);
  await first.stop();
  guests.write(agent, ...Array.from({ length: 150 }, (_, n) => `line ${n + 150}`));
  collect(t, 'restart', guests);
  const found = await until(agent, 300);
  assert.deepEqual(
    found,
    Array.from({ length: 300 }, (_, n) => `gateway: line ${n}`),
  );
  assert.deepEqual(await store.database.repeatable((db) => logPosition(db, agent.id, 'gateway')), {
    executionId: 'e1',
    offset: 300,
  });
});

test('only running agents of this host are read, and of those that are provisioning the console', async (t) => {
  const guests = new Guests();
  const [running, booting, paused, elsewhere, changing] = [
    await newAgent('mine'),
    await newAgent('mine', 'provisioning'),
    await newAgent('mine', 'paused'),
    await newAgent('other'),
    await newAgent('mine'),
  ];
  await store.agents.begin(changing.id, 'request', () => ({ do: 'begin', kind: 'pause' }));
  for (const agent of [running, booting, paused, elsewhere, changing]) {
    guests.print(agent, 'printed\n');
    guests.write(agent, 'written');
  }
  collect(t, 'mine', guests);
  assert.deepEqual((await until(running, 2)).toSorted(), ['console: printed', 'gateway: written']);
  assert.deepEqual(await until(booting, 1), ['console: printed']);
  assert.deepEqual(await until(changing, 1), ['console: printed']);
  await sleep(100);
  assert.deepEqual([await messages(paused), await messages(elsewhere)], [[], []]);
  assert.equal((await messages(booting)).length + (await messages(changing)).length, 2);
});

test('what rules refuse is in the log of an agent that has some, while it runs', async (t) => {
  const guests = new Guests();
  const [allowing, closed, open, paused] = [
    await newAgent('rules', 'running', 'allowlist'),
    await newAgent('rules', 'provisioning', 'none'),
    await newAgent('rules'),
    await newAgent('rules', 'paused', 'none'),
  ];
  const tries = { at: new Date(), protocol: 'tcp', address: '203.0.113.7', port: 443, name: null } as const;
  for (const { id } of [allowing, closed, open, paused]) guests.refused.set(id, [tries]);
  collect(t, 'rules', guests);
  assert.deepEqual(await until(allowing, 1), [
    "egress: Refused: tcp 203.0.113.7:443 is not on the agent's allow list.",
  ]);
  assert.deepEqual(await until(closed, 1), [
    'egress: Refused: tcp 203.0.113.7:443, for the agent may reach nothing but its model broker.',
  ]);
  await sleep(100);
  assert.deepEqual([await messages(open), await messages(paused)], [[], []]);
});

test('guests that hang hold up nobody else', async (t) => {
  const guests = new Guests();
  const hung = await Promise.all(Array.from({ length: 6 }, () => newAgent('slow')));
  for (const agent of hung) guests.hanging.add(agent.id).add(agent.vmAddress!);
  const well = await newAgent('slow');
  const collector = collect(t, 'slow', guests, { concurrency: 2, timeoutMs: 100 });
  guests.write(well, 'first');
  guests.print(well, 'second\n');
  await until(well, 2);
  await sleep(500);
  const before = guests.reads;
  const begun = performance.now();
  for (let n = 0; n < 10; n += 1) {
    guests.write(well, `later ${n}`);
    await until(well, 3 + n);
  }
  const tookMs = performance.now() - begun;
  assert.ok(tookMs < 5_000, `${tookMs} ms`);
  assert.ok(guests.reads > before);
  const stopping = performance.now();
  await collector.stop();
  assert.ok(performance.now() - stopping < 60_000);
});

test('a flood is cut down to the rate, and the log says how many lines are missing', async (t) => {
  const guests = new Guests();
  const agent = await newAgent('flood');
  guests.print(agent, 'x\n'.repeat(5_000));
  collect(t, 'flood', guests, {
    rate: { perSecond: 50, burst: 200, charsPerSecond: 1_000_000, charsBurst: 1_000_000 },
  });
  await until(agent, 200);
  await sleep(300);
  guests.print(agent, 'after\n');
  const found = await untilSaid(agent, 'console: after');
  const missing = found.map((line) => /^console: (\d+) lines were left out/.exec(line)?.[1]).find(Boolean);
  const kept = found.filter((line) => line === 'console: x').length;
  assert.equal(kept + Number(missing), 5_000);
  assert.ok(kept >= 200 && kept < 300, `${kept}`);
});

test('long lines are cut down to the rate of characters, and another agent’s lines come meanwhile', async (t) => {
  const guests = new Guests();
  const loud = await newAgent('loud');
  const quiet = await newAgent('loud');
  // The most costly known texts for patterns of secrets and terminal sequences.
  const hostile = ['_eyJ', '\r', '\u001b];a', 'token=x '].map((unit) => `${unit.repeat(60_000 / unit.length)}x`);
  for (let n = 0; n < 50; n += 1) guests.write(loud, ...hostile);
  guests.write(quiet, 'hello');
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  collect(t, 'loud', guests, {
    rate: { perSecond: 1_000, burst: 1_000, charsPerSecond: 1_000, charsBurst: 1_000_000 },
  });
  assert.deepEqual(await until(quiet, 1), ['gateway: hello']);
  await until(loud, 40);
  delay.disable();
  assert.ok((await messages(loud)).length < 100, 'a million characters are 63 lines');
  // Hundredths of a second. Patterns that begin anew everywhere took a second for one of these lines.
  assert.ok(delay.max < 700e6, `${Math.round(delay.max / 1e6)} ms`);
});

test("a template's lines, older than the agent, are not the agent's", async (t) => {
  const guests = new Guests();
  const agent = await newAgent('clone');
  const at = (ms: number): Date => new Date(agent.createdAt.getTime() + ms);
  guests.logs.set(agent.vmAddress!, [
    { at: at(-3_600_000), level: 'info', message: 'warm-up' },
    { at: null, level: 'info', message: 'a second line of it' },
    { at: at(10), level: 'warn', message: 'own' },
    { at: null, level: 'info', message: 'own too' },
  ]);
  collect(t, 'clone', guests);
  assert.deepEqual(await until(agent, 2), ['gateway: own', 'gateway: own too']);
});

test('a log that became shorter, as after a crash, is followed from its end', async (t) => {
  const guests = new Guests();
  const agent = await newAgent('crash');
  guests.write(agent, 'a', 'b', 'c');
  collect(t, 'crash', guests);
  await until(agent, 3);
  guests.logs.set(agent.vmAddress!, guests.logs.get(agent.vmAddress!)!.slice(0, 1));
  // The read after the first that sees the shorter log: its length is known by then.
  for (const seen = guests.reads; guests.reads < seen + 3;) await sleep(5);
  guests.write(agent, 'd');
  assert.deepEqual(await until(agent, 4), ['gateway: a', 'gateway: b', 'gateway: c', 'gateway: d']);
});

test('old lines are pruned', async (t) => {
  const agent = await newAgent('prune');
  for (let n = 0; n < 6; n += 1) {
    await logWriter(store.database).append(
      agent.id,
      Array.from({ length: 1_000 }, (_, i) => ({ level: 'info', source: 'system', message: `${n}-${i}` }) as const),
    );
  }
  collect(t, 'prune', new Guests());
  for (let tries = 0; (await messages(agent)).length !== 5_000; tries += 1) {
    assert.ok(tries < 3_000);
    await sleep(20);
  }
});
