import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { logLevels, logSources, maxLogMessage } from '@lodge/ports';
import type { LogBounds, LogEntry, LogQuery, LogSource, NewLogEntry } from '@lodge/ports';
import { Client } from 'pg';
import { admitAll, firstAccount, newAgent } from '../testing/fixture.ts';
import { testStore } from '../testing/test-store.ts';
import { appendLogFrom, logPage, logPosition, logWriter, pruneLogs } from './index.ts';
import type { LogPosition } from './index.ts';

const { database, store, another } = await testStore();
const other = await another();
const { agents } = store;
const append = (agentId: string, entries: readonly NewLogEntry[]) => logWriter(store.database).append(agentId, entries);
const position = (agentId: string, source: LogSource) =>
  store.database.repeatable((db) => logPosition(db, agentId, source));
const appendFrom = (agentId: string, source: LogSource, to: LogPosition, entries: readonly NewLogEntry[]) =>
  store.database.transaction((trx) => appendLogFrom(trx, agentId, source, to, entries));
const prune = (bounds: LogBounds) => pruneLogs(store.database, bounds);
const account = await firstAccount(store.database);

const newLog = async (): Promise<string> => (await agents.create(newAgent(account), admitAll)).id;
const line = (message: string, given: Partial<NewLogEntry> = {}): NewLogEntry => ({
  level: 'info',
  source: 'system',
  message,
  ...given,
});
const lines = (count: number, name = 'line'): NewLogEntry[] =>
  Array.from({ length: count }, (_, n) => line(`${name} ${n}`));
const page = (agentId: string, given: Partial<LogQuery> = {}) =>
  store.database.repeatable((db) => logPage(db, { agentId, limit: 1_000, direction: 'asc', ...given }));
const messages = (entries: readonly LogEntry[]) => entries.map(({ message }) => message);

test('entries read back as they were given, in order, and only for their agent', async () => {
  const [one, two] = [await newLog(), await newLog()];
  const at = new Date(Date.now() - 5_000);
  const given = logLevels.flatMap((level) =>
    logSources.map((source) => ({ level, source, message: `${level} ${source}`, at })),
  );
  await append(one, given);
  await append(two, [line('it\'s 100% \\ "quoted" ✓')]);
  const found = await page(one);
  assert.deepEqual(
    found.map(({ level, source, message, at }) => ({ level, source, message, at })),
    given,
  );
  assert.deepEqual(messages(await page(two)), ['it\'s 100% \\ "quoted" ✓']);
  await append(one, []);
  assert.equal((await page(one)).length, given.length);
  assert.deepEqual(await page('aaaaaaaaaaaa'), []);
});

test('what Postgres cannot hold is taken out, and a long message is cut without half a character', async () => {
  const id = await newLog();
  await append(id, [line('a\0b\ud800c'), line('x'.repeat(maxLogMessage - 1) + '😀')]);
  const [odd, long] = messages(await page(id));
  assert.equal(odd, 'ab\ufffdc');
  assert.equal(long, `${'x'.repeat(maxLogMessage - 1)}\ufffd`);
});

test('times never go back and never lie ahead, whatever a guest says', async () => {
  const id = await newLog();
  const now = Date.now();
  await append(id, [line('a', { at: new Date(now - 60_000) }), line('b', { at: new Date(now - 90_000) })]);
  await append(id, [line('c', { at: new Date(now - 80_000) }), line('d', { at: new Date(now + 3_600_000) })]);
  await append(id, [line('e')]);
  const times = (await page(id)).map(({ at }) => at.getTime());
  assert.deepEqual(
    times,
    times.toSorted((a, b) => a - b),
  );
  assert.equal(times[0], now - 60_000);
  assert.equal(times[2], now - 60_000);
  assert.ok(times.at(-1)! < now + 60_000);
});

for (const direction of ['asc', 'desc'] as const) {
  test(`pages ${direction} hold every entry once while two processes append`, async () => {
    const id = await newLog();
    await append(id, lines(50, 'before'));
    let writing = true;
    const writers = Promise.all(
      [store, other].map(async ({ database: of }, writer) => {
        for (let n = 0; n < 60; n += 1) await logWriter(of).append(id, lines(5, `w${writer}-${n}`));
      }),
    ).finally(() => (writing = false));
    const seen: LogEntry[] = [];
    for (let from: bigint | undefined; ;) {
      const wasWriting = writing;
      const found = await page(id, { direction, limit: 7, ...(from === undefined ? {} : { from }) });
      seen.push(...found);
      from = found.at(-1)?.id ?? from;
      if (found.length === 0 && (direction === 'desc' || !wasWriting)) break;
    }
    await writers;
    const all = await page(id);
    assert.equal(all.length, 650);
    const expected = direction === 'asc' ? all : all.filter((entry) => entry.id <= seen[0]!.id).toReversed();
    assert.deepEqual(seen, expected);
  });
}

test('an append that is not committed yet holds back those after it, so no reader passes over it', async () => {
  const id = await newLog();
  await append(id, [line('first')]);
  const client = new Client(database);
  await client.connect();
  await client.query('begin');
  await client.query(`update agent_log_heads set last_id = last_id + 1 where agent_id = '${id}'`);
  const slow = `insert into agent_logs values ('${id}', 2, now(), 1, 0, 'slow')`;
  await client.query(slow);
  let written = false;
  const third = append(id, [line('third')]).then(() => (written = true));
  await sleep(100);
  assert.equal(written, false);
  assert.deepEqual(messages(await page(id)), ['first']);
  await client.query('commit');
  await client.end();
  await third;
  assert.deepEqual(messages(await page(id)), ['first', 'slow', 'third']);
});

test('filters: time, level, source and text, together with a position', async () => {
  const id = await newLog();
  const start = Date.now() - 100_000;
  const odd: Record<number, string> = {
    42: 'A long and rather particular line number 42',
    43: `${'!'.repeat(30)} 42 !!`,
  };
  const entries = Array.from({ length: 100 }, (_, n) =>
    line(odd[n] ?? (n % 10 === 0 ? `Needle_${n}% in hay` : `hay ${n}`), {
      at: new Date(start + n * 1_000),
      level: logLevels[n % 4]!,
      source: logSources[n % 5]!,
    }),
  );
  await append(id, entries);
  const all = await page(id);
  const check = async (query: Partial<LogQuery>, holds: (entry: LogEntry, n: number) => boolean) => {
    const expected = all.filter(holds);
    assert.deepEqual(
      await page(id, query),
      expected,
      JSON.stringify(query, (_, v) => (typeof v === 'bigint' ? `${v}` : v)),
    );
    assert.deepEqual(await page(id, { ...query, direction: 'desc' }), expected.toReversed());
    assert.deepEqual(await page(id, { ...query, limit: 3 }), expected.slice(0, 3));
    assert.deepEqual(await page(id, { ...query, direction: 'desc', limit: 3 }), expected.toReversed().slice(0, 3));
  };
  const [since, until] = [new Date(start + 20_000), new Date(start + 60_000)];
  await check({ since }, ({ at }) => at >= since);
  await check({ until }, ({ at }) => at < until);
  await check(
    { since, until, minLevel: 'warn' },
    (e) => e.at >= since && e.at < until && (e.level === 'warn' || e.level === 'error'),
  );
  await check({ minLevel: 'debug' }, () => true);
  await check({ minLevel: 'error', source: 'gateway' }, (e) => e.level === 'error' && e.source === 'gateway');
  await check({ source: 'egress' }, (e) => e.source === 'egress');
  await check({ search: 'NEEDLE_' }, (e) => e.message.startsWith('Needle_'));
  await check({ search: '0% IN' }, (e) => e.message.startsWith('Needle_'));
  await check({ search: 'y 9' }, (e) => /y 9/.test(e.message));
  await check({ search: '9' }, (e) => e.message.includes('9'));
  await check(
    { search: 'needle', since, minLevel: 'info' },
    (e) => /Needle/.test(e.message) && e.at >= since && e.level !== 'debug',
  );
  await check({ search: 'absent words' }, () => false);
  await check({ search: 'LONG and rather particular line number 42' }, (e) => e.message.endsWith('number 42'));
  await check({ search: 'long and rather line particular number 42' }, () => false);
  await check({ search: '!!!!!!!!!!!!!!!!!!!!!!!!!!!!!! 42 !!' }, (e) => e.message.includes(' 42 !!'));
  await check({ search: 'a\0' }, () => false);
  await check({ since: until, until: since }, () => false);
  const from = all[49]!.id;
  assert.deepEqual(
    await page(id, { from, search: 'needle' }),
    all.slice(50).filter((e) => /Needle/.test(e.message)),
  );
  assert.deepEqual(
    await page(id, { from, direction: 'desc', minLevel: 'warn' }),
    all
      .slice(0, 49)
      .filter((e) => e.level === 'warn' || e.level === 'error')
      .toReversed(),
  );
});

test('prune takes the oldest out, by count and by age, of every agent', async () => {
  const [many, old, few] = [await newLog(), await newLog(), await newLog()];
  for (let n = 0; n < 5; n += 1) await append(many, lines(1_000));
  await append(old, [
    line('aged', { at: new Date(Date.now() - 3_600_000) }),
    line('aged too', { at: new Date(Date.now() - 1_900_000) }),
    line('fresh'),
  ]);
  await append(few, lines(3));
  await prune({ maxEntries: 100, maxBytes: 2 ** 30, maxAgeMs: 1_800_000 });
  const left = await page(many);
  assert.equal(left.length, 100);
  assert.equal(left.at(-1)!.message, 'line 999');
  assert.deepEqual(messages(await page(old)), ['fresh']);
  assert.equal((await page(few)).length, 3);
  const { id: last } = left.at(-1)!;
  await prune({ maxEntries: 0, maxBytes: 2 ** 30, maxAgeMs: 1_800_000 });
  assert.deepEqual(await page(many), []);
  await append(many, [line('next')]);
  assert.equal((await page(many))[0]!.id, last + 1n, 'ids of what is gone do not come back');
});

test('prune takes the oldest out by bytes, as many as must go, whatever was there before they were counted', async (t) => {
  const client = new Client(database);
  await client.connect();
  t.after(() => client.end());
  const [large, small] = [await newLog(), await newLog()];
  const bytesOf = async (id: string): Promise<string> =>
    (await client.query(`select bytes from agent_log_heads where agent_id = '${id}'`)).rows[0].bytes;
  const bounds = { maxEntries: 100_000, maxAgeMs: 3_600_000 };
  await append(large, lines(10, 'of an older release'));
  await client.query(`update agent_log_heads set bytes = 0, counted_after = last_id where agent_id = '${large}'`);
  // Two bytes a character make 2,000 bytes each.
  for (let n = 0; n < 5; n += 1) await append(large, Array(1_000).fill(line('ö'.repeat(1_000))));
  await append(small, lines(3));
  assert.equal(await bytesOf(large), '10000000');
  await prune({ ...bounds, maxBytes: 10_000_000 });
  assert.equal((await page(large, { limit: 10 }))[0]!.id, 1n, 'the bound itself is within it');
  await prune({ ...bounds, maxBytes: 999_999 });
  assert.equal(await bytesOf(large), '998000');
  const left = await page(large);
  assert.deepEqual([left.length, left.at(-1)!.id], [499, 5_010n]);
  assert.equal((await page(small)).length, 3);
  await prune({ ...bounds, maxEntries: 100, maxBytes: 999_999 });
  assert.equal(await bytesOf(large), '200000', 'what goes by count is not counted either');
  await prune({ ...bounds, maxBytes: 0 });
  assert.deepEqual([await bytesOf(large), await page(large), await page(small)], ['0', [], []]);
});

test('a position moves with its entries, and a source has its own', async () => {
  const id = await newLog();
  assert.equal(await position(id, 'gateway'), null);
  await appendFrom(id, 'gateway', { executionId: 'e1', offset: 5_000_000_000 }, [line('one')]);
  assert.deepEqual(await position(id, 'gateway'), { executionId: 'e1', offset: 5_000_000_000 });
  assert.equal(await position(id, 'console'), null);
  await appendFrom(id, 'gateway', { executionId: 'e2', offset: 0 }, []);
  assert.deepEqual(await position(id, 'gateway'), { executionId: 'e2', offset: 0 });
  await assert.rejects(
    appendFrom(id, 'gateway', { executionId: 'e3', offset: 1 }, [line('x', { level: 'odd' as never })]),
  );
  assert.deepEqual(await position(id, 'gateway'), { executionId: 'e2', offset: 0 }, 'both or neither');
  assert.deepEqual(messages(await page(id)), ['one']);
});

test('a growing log is heard in every process, and a transition with its entry too', async (t) => {
  const id = await newLog();
  const heard: (string | null)[] = [];
  t.after(other.changes.on('agent_log_changed', (agentId) => heard.push(agentId)));
  const until = async (count: number) => {
    for (let n = 0; n < 500 && heard.length < count; n += 1) await sleep(10);
    assert.deepEqual(heard, Array(count).fill(id));
  };
  await append(id, lines(3));
  await until(1);
  await agents.lease(id, 'h', 60_000);
  assert.equal(
    await agents.observe(id, 1, 'h', { status: 'running', event: { type: 'agent.disk_full', data: { free_mib: 7 } } }),
    true,
  );
  await until(2);
  assert.equal(await agents.observe(id, 7, 'h', { event: { type: 'agent.crashed', data: {} } }), false);
  await append(id, [line('last')]);
  await until(3);
  assert.deepEqual(messages(await page(id)), [
    'line 0',
    'line 1',
    'line 2',
    "The agent's disk is full: 7 MB are left.",
    'last',
  ]);
});

test('the log outlives its agent', async () => {
  const id = await newLog();
  await appendFrom(id, 'console', { executionId: 'e', offset: 1 }, [line('kept')]);
  await agents.markDeleted(account, id);
  await agents.lease(id, 'h', 60_000);
  await agents.finishDelete(id, 'h');
  assert.deepEqual(messages(await page(id)), ['kept']);
  assert.equal(await position(id, 'console'), null);
});
