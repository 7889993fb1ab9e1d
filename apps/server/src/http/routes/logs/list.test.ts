import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NewLogEntry } from '@lodge/ports';
import { openApp } from '../../../../../../packages/testkit/src/plane/http/open-app.ts';
import { logWriter } from '@lodge/store/logs';

const followers = { now: 0 };
const { app, call, agent, setAgent, sql, store, key, baseUrl, close } = await openApp({
  api: (usual) => ({
    ...usual,
    logSilenceMs: 200,
    agents: {
      ...usual.agents,
      onLog(id, listener) {
        const off = usual.agents.onLog(id, listener);
        followers.now += 1;
        return () => {
          followers.now -= 1;
          off();
        };
      },
    },
  }),
});
after(close);

/** An agent with a log of so many lines. */
async function withLog(count: number) {
  const id = await agent();
  await sql('delete from agent_logs where agent_id = $1', [id]);
  const log = (...entries: (Partial<NewLogEntry> & { readonly message: string })[]) =>
    logWriter(store.database).append(
      id,
      entries.map((entry) => ({ level: 'info', source: 'system', ...entry })),
    );
  const lines = Array.from({ length: count }, (_, i) => ({
    message: `line ${i + 1}`,
    at: new Date(Date.UTC(2026, 0, 1, 0, i)),
  }));
  if (count > 0) await log(...lines);
  const read = (query = '') => call('GET', `/v1/agents/${id}/logs${query}`);
  return { id, log, read };
}

const numbers = (page: { data: { message: string }[] }) => page.data.map(({ message }) => Number(message.slice(5)));

describe('pages', () => {
  test('the newest come first; an entry has what the contract says', async () => {
    const { read } = await withLog(3);
    const { status, body } = await read();
    assert.equal(status, 200);
    assert.deepEqual([body.object, body.has_more, body.next_cursor], ['list', false, null]);
    assert.deepEqual(numbers(body), [3, 2, 1]);
    const [{ id, ...entry }] = body.data;
    assert.match(id, /^\d+$/);
    assert.deepEqual(entry, {
      timestamp: '2026-01-01T00:02:00.000Z',
      level: 'info',
      source: 'system',
      message: 'line 3',
    });
  });

  test('both ways the pages are whole, without gap or double', async () => {
    const { read } = await withLog(25);
    for (const direction of ['asc', 'desc'] as const) {
      const seen: number[] = [];
      let cursor = '';
      do {
        const { body } = await read(`?limit=10&${cursor ? `cursor=${cursor}` : `direction=${direction}`}`);
        seen.push(...numbers(body));
        cursor = body.next_cursor;
        assert.equal(body.has_more, cursor !== null);
      } while (cursor);
      const all = Array.from({ length: 25 }, (_, i) => i + 1);
      assert.deepEqual(seen, direction === 'asc' ? all : all.toReversed());
    }
  });

  test('an entry written meanwhile does not move the pages', async () => {
    const { read, log } = await withLog(4);
    const first = await read('?limit=2');
    await log({ message: 'line 5' });
    assert.deepEqual(numbers((await read(`?limit=2&cursor=${first.body.next_cursor}`)).body), [2, 1]);
  });

  test('filters: since, until, level, source, search', async () => {
    const { read, log } = await withLog(3);
    await log({ message: 'line 4 Broken', level: 'error', source: 'gateway', at: new Date('2026-02-01') });
    for (const [query, wanted] of [
      ['since=2026-01-01T00:01:00Z&until=2026-01-01T00:02:00Z', 1],
      ['since=2026-01-01t02:01:00%2B02:00', 3],
      ['level=warn', 1],
      ['level=debug', 4],
      ['source=gateway', 1],
      ['search=broken', 1],
      ['search=LINE&source=system', 3],
    ] as const) {
      const { status, body } = await read(`?${query}`);
      assert.deepEqual([status, body.data?.length], [200, wanted], query);
    }
  });

  test('it is there in every status, and not for another account', async () => {
    const { read, id } = await withLog(1);
    for (const status of ['provisioning', 'paused', 'stopped', 'error'] as const) {
      const why = { status_reason_code: 'vm_crashed', status_reason_message: '', status_reason_at: new Date() };
      await setAgent(id, { status, ...(status === 'error' && why) });
      assert.equal((await read()).status, 200);
    }
    await sql("insert into accounts (id, name) values ('other', 'Other')");
    await setAgent(id, { account_id: 'other' });
    for (const query of ['', '?follow=true', '?follow=true&since=2026-01-01T00:00:00Z']) {
      const answer = await read(query);
      assert.deepEqual([answer.status, answer.body.error.code], [404, 'agent_not_found']);
    }
  });

  test('400: each wrong parameter is named', async () => {
    const { read } = await withLog(25);
    const other = await withLog(25);
    const { next_cursor: foreign } = (await other.read('?limit=1')).body;
    const { next_cursor: own } = (await read('?limit=1')).body;
    const cursorOf = (text: string) => Buffer.from(text).toString('base64url');
    for (const [query, name] of [
      ['limit=0', 'limit'],
      ['limit=1001', 'limit'],
      ['limit=ten', 'limit'],
      ['direction=up', 'direction'],
      ['since=yesterday', 'since'],
      ['since=2026-02-30T00:00:00Z', 'since'],
      ['since=2026-01-01', 'since'],
      ['until=1769860800', 'until'],
      ['level=fatal', 'level'],
      ['source=kernel', 'source'],
      ['search=', 'search'],
      ['search=%00', 'search'],
      ['follow=1', 'follow'],
      ['tail=5', 'tail'],
      ['cursor=x', 'cursor'],
      [`cursor=${foreign}`, 'cursor'],
      [`cursor=${own}=`, 'cursor'],
      [`cursor=${cursorOf(`l1 ${'a'.repeat(12)} asc 99999999999999999999`)}`, 'cursor'],
      [`cursor=${own}&direction=asc`, 'cursor'],
      [`cursor=${own}&follow=true`, 'cursor'],
      ['until=2026-01-01T00:00:00Z&follow=true', 'until'],
      ['direction=desc&follow=true', 'direction'],
    ] as const) {
      const answer = await read(`?${query}`);
      assert.deepEqual([answer.status, answer.body?.error?.code], [400, 'invalid_request'], query);
      assert.match(answer.body.error.message, new RegExp(`^${name} `));
    }
    assert.equal((await call('GET', '/v1/agents/none/logs')).status, 404);
  });
});

describe('follow', () => {
  async function following({ id }: { readonly id: string }) {
    const open = async (query = '', headers: Record<string, string> = {}) => {
      const client = new AbortController();
      const response = await fetch(`${baseUrl}/agents/${id}/logs?follow=true${query}`, {
        headers: { 'x-api-key': await key('all'), ...headers },
        signal: client.signal,
      });
      const decoder = new TextDecoder();
      const bytes = response.body![Symbol.asyncIterator]();
      let pending = '';
      /** Reads on until so many events are there. */
      const events = async (count: number): Promise<string[]> => {
        const found: string[] = [];
        while (found.length < count) {
          const end = pending.indexOf('\n\n');
          if (end < 0) {
            const { done, value } = await bytes.next();
            if (done) break;
            pending += decoder.decode(value, { stream: true });
            continue;
          }
          const block = pending.slice(0, end);
          pending = pending.slice(end + 2);
          if (!block.startsWith(':')) found.push(block);
        }
        return found;
      };
      return { response, events, pending: () => pending, bytes, end: () => client.abort() };
    };
    return { open };
  }
  const idOf = (event: string | undefined) => /^id: (\d+)$/m.exec(event ?? '')?.[1];
  const messageOf = (event: string) => (JSON.parse(/^data: (.*)$/m.exec(event)![1]!) as { message: string }).message;
  const lines = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => `line ${from + at}`);

  test('begins with the newest, goes on as entries come, each an event with its id', async () => {
    const logged = await withLog(5);
    const { open } = await following(logged);
    const stream = await open('&limit=2');
    assert.equal(stream.response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
    assert.deepEqual((await stream.events(2)).map(messageOf), lines(4, 5));
    await logged.log({ message: 'line 6' });
    const [event] = await stream.events(1);
    const { data } = (await logged.read('?limit=1')).body;
    assert.deepEqual([idOf(event), messageOf(event!)], [data[0].id, 'line 6']);
    stream.end();
  });

  test('goes on behind Last-Event-ID', async () => {
    const logged = await withLog(10);
    const { open } = await following(logged);
    const first = await open('&since=2026-01-01T00:00:00Z');
    const seen = await first.events(4);
    first.end();
    const second = await open('&since=2026-01-01T00:00:00Z', { 'last-event-id': idOf(seen.at(-1))! });
    await logged.log({ message: 'line 11' });
    seen.push(...(await second.events(7)));
    second.end();
    assert.deepEqual(seen.map(messageOf), lines(1, 11));
  });

  test('since without limit begins with the first of that time; filters hold for what comes too', async () => {
    const logged = await withLog(300);
    const { open } = await following(logged);
    const since = await open('&since=2026-01-01T00:50:00Z');
    assert.deepEqual((await since.events(250)).map(messageOf), lines(51, 300));
    const errors = await open('&level=error');
    await logged.log({ message: 'fine' }, { message: 'bad', level: 'error' }, { message: 'fine' });
    assert.deepEqual((await errors.events(1)).map(messageOf), ['bad']);
    await logged.log({ message: 'worse', level: 'error' });
    assert.deepEqual((await errors.events(1)).map(messageOf), ['worse']);
    for (const stream of [since, errors]) stream.end();
  });

  test('nothing is left of a follower that went away', async () => {
    const logged = await withLog(1);
    const { open } = await following(logged);
    const stream = await open();
    await stream.events(1);
    while (followers.now === 0) await sleep(5);
    stream.end();
    while (followers.now > 0) await sleep(5);
  });

  test('the stream of an agent that is deleted ends with an error event', async () => {
    const logged = await withLog(1);
    const { open } = await following(logged);
    const stream = await open();
    await stream.events(1);
    await call('DELETE', `/v1/agents/${logged.id}?wait=false`);
    await sql('update agents set deleted_at = now() where id = $1', [logged.id]);
    await logged.log({ message: 'gone' });
    const [event] = await stream.events(1);
    assert.match(event!, /^event: error\ndata: \{"error":\{"type":"not_found_error","code":"agent_not_found"/);
    assert.deepEqual(await stream.events(1), []);
  });

  test('429: followers are bounded, and one that leaves makes room', async () => {
    const logged = await withLog(1);
    const { open } = await following(logged);
    const streams = await Promise.all(Array.from({ length: 50 }, () => open()));
    while (followers.now < 50) await sleep(5);
    const refused = await open();
    assert.equal(refused.response.status, 429);
    assert.ok(Number(refused.response.headers.get('retry-after')) > 0);
    refused.end();
    await streams[0]!.events(1);
    streams[0]!.end();
    while (followers.now === 50) await sleep(5);
    const again = await open();
    assert.equal(again.response.status, 200);
    for (const stream of [...streams, again]) stream.end();
  });

  test('400: a Last-Event-ID that is no id; HEAD opens no stream', async () => {
    const { id } = await withLog(1);
    const url = `/v1/agents/${id}/logs?follow=true`;
    const wrong = await call('GET', url, { headers: { 'last-event-id': 'x' } });
    assert.equal(wrong.status, 400);
    assert.match(wrong.body.error.message, /^last-event-id/);
    const head = await call('HEAD', url);
    assert.deepEqual([head.status, head.text], [200, '']);
    assert.match(String(head.headers['content-type']), /event-stream/);
  });

  test('comments keep a silent stream alive; it ends when the service closes', async () => {
    const logged = await withLog(0);
    const { open } = await following(logged);
    const { bytes } = await open();
    for (let i = 0; i < 3; i += 1) assert.match(Buffer.from((await bytes.next()).value).toString(), /^: /);
    const began = Date.now();
    const closed = app.close();
    while (!(await bytes.next()).done);
    await closed;
    assert.ok(Date.now() - began < 60_000);
    assert.equal(followers.now, 0);
  });
});
