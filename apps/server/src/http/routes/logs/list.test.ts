import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { agentRow, testApp } from '../../../../../../packages/testkit/src/plane/http/test-app.ts';

function withLog(count: number) {
  const lodge = testApp({ logSilenceMs: 200 });
  const row = agentRow();
  lodge.agents.rows = [row];
  const lines = Array.from({ length: count }, (_, i) => ({
    message: `line ${i + 1}`,
    at: new Date(Date.UTC(2026, 0, 1, 0, i)),
  }));
  lodge.agents.log(row.id, ...lines);
  const read = (query = '') => lodge.call('GET', `/v1/agents/${row.id}/logs${query}`);
  return { ...lodge, row, read };
}

const numbers = (page: { data: { message: string }[] }) => page.data.map(({ message }) => Number(message.slice(5)));

describe('pages', () => {
  test('the newest come first; an entry has what the contract says', async () => {
    const { read } = withLog(3);
    const { status, body } = await read();
    assert.equal(status, 200);
    assert.deepEqual([body.object, body.has_more, body.next_cursor], ['list', false, null]);
    assert.deepEqual(numbers(body), [3, 2, 1]);
    assert.deepEqual(body.data[0], {
      id: '3',
      timestamp: '2026-01-01T00:02:00.000Z',
      level: 'info',
      source: 'system',
      message: 'line 3',
    });
  });

  test('both ways the pages are whole, without gap or double', async () => {
    const { read } = withLog(25);
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
    const { read, agents, row } = withLog(4);
    const first = await read('?limit=2');
    agents.log(row.id, { message: 'line 5' });
    assert.deepEqual(numbers((await read(`?limit=2&cursor=${first.body.next_cursor}`)).body), [2, 1]);
  });

  test('filters: since, until, level, source, search', async () => {
    const { read, agents, row } = withLog(3);
    agents.log(row.id, { message: 'line 4 Broken', level: 'error', source: 'gateway', at: new Date('2026-02-01') });
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
    const { read, agents, row } = withLog(1);
    for (const status of ['provisioning', 'paused', 'stopped', 'error'] as const) {
      agents.rows = [{ ...row, status }];
      assert.equal((await read()).status, 200);
    }
    agents.rows = [{ ...row, accountId: 'other' }];
    for (const query of ['', '?follow=true', '?follow=true&since=2026-01-01T00:00:00Z']) {
      const answer = await read(query);
      assert.deepEqual([answer.status, answer.body.error.code], [404, 'agent_not_found']);
    }
  });

  test('400: each wrong parameter is named', async () => {
    const { read, call } = withLog(25);
    const other = withLog(25);
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
  async function following(lodge: ReturnType<typeof withLog>) {
    const url = await lodge.app.listen({ port: 0, host: '127.0.0.1' });
    const open = async (query = '', headers: Record<string, string> = {}) => {
      const client = new AbortController();
      const response = await fetch(`${url}/v1/agents/${lodge.row.id}/logs?follow=true${query}`, {
        headers: { 'x-api-key': 'all', ...headers },
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
  const idOf = (event: string | undefined) => Number(/^id: (\d+)$/m.exec(event ?? '')?.[1]);

  test('begins with the newest, goes on as entries come, each an event with its id', async () => {
    const lodge = withLog(5);
    const { open } = await following(lodge);
    const stream = await open('&limit=2');
    assert.equal(stream.response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
    assert.deepEqual((await stream.events(2)).map(idOf), [4, 5]);
    lodge.agents.log(lodge.row.id, { message: 'line 6' });
    const [event] = await stream.events(1);
    assert.equal(idOf(event), 6);
    assert.equal(JSON.parse(/^data: (.*)$/m.exec(event!)![1]!).message, 'line 6');
    stream.end();
    await lodge.app.close();
  });

  test('goes on behind Last-Event-ID: nothing is missed or doubled while entries are written', async () => {
    const lodge = withLog(0);
    const { open } = await following(lodge);
    let written = 0;
    const writer = setInterval(() => {
      for (let i = 0; i < 300 && written < 3000; i += 1)
        lodge.agents.log(lodge.row.id, { message: `line ${++written}` });
    }, 20);
    const seen: number[] = [];
    while (seen.length < 3000) {
      const last = seen.at(-1);
      const stream = await open(
        '&since=2026-01-01T00:00:00Z',
        last === undefined ? {} : { 'last-event-id': String(last) },
      );
      seen.push(...(await stream.events(Math.min(700, 3000 - seen.length))).map(idOf));
      stream.end();
    }
    clearInterval(writer);
    assert.deepEqual(seen, Array.from({ length: 3000 }, (_, i) => seen[0]! + i).slice(0, 3000));
    assert.equal(seen[0], 1);
    await lodge.app.close();
  });

  test('since without limit begins with the first of that time; filters hold for what comes too', async () => {
    const lodge = withLog(300);
    const { open } = await following(lodge);
    const since = await open('&since=2026-01-01T00:50:00Z');
    const ids = (await since.events(250)).map(idOf);
    assert.deepEqual([ids[0], ids.at(-1)], [51, 300]);
    const errors = await open('&level=error');
    lodge.agents.log(lodge.row.id, { message: 'fine' }, { message: 'bad', level: 'error' }, { message: 'fine' });
    assert.deepEqual((await errors.events(1)).map(idOf), [302]);
    lodge.agents.log(lodge.row.id, { message: 'worse', level: 'error' });
    assert.deepEqual((await errors.events(1)).map(idOf), [304]);
    for (const stream of [since, errors]) stream.end();
    await lodge.app.close();
  });

  test('comments keep a silent stream alive; it ends when the service closes', async () => {
    const lodge = withLog(0);
    const { open } = await following(lodge);
    const { bytes } = await open();
    for (let i = 0; i < 3; i += 1) assert.match(Buffer.from((await bytes.next()).value).toString(), /^: /);
    const began = Date.now();
    const closed = lodge.app.close();
    while (!(await bytes.next()).done);
    await closed;
    assert.ok(Date.now() - began < 60_000);
    assert.equal(lodge.agents.listeners, 0);
  });

  test('nothing is left of a follower that went away', async () => {
    const lodge = withLog(1);
    const { open } = await following(lodge);
    const stream = await open();
    await stream.events(1);
    while (lodge.agents.listeners === 0) await sleep(5);
    stream.end();
    while (lodge.agents.listeners > 0) await sleep(5);
    await lodge.app.close();
  });

  test('the stream of an agent that is deleted ends with an error event', async () => {
    const lodge = withLog(1);
    const { open } = await following(lodge);
    const stream = await open();
    await stream.events(1);
    lodge.agents.rows = [];
    lodge.agents.log(lodge.row.id, { message: 'gone' });
    const [event] = await stream.events(1);
    assert.match(event!, /^event: error\ndata: \{"error":\{"type":"not_found_error","code":"agent_not_found"/);
    assert.deepEqual(await stream.events(1), []);
    await lodge.app.close();
  });

  test('429: followers are bounded, and one that leaves makes room', async () => {
    const lodge = withLog(1);
    const { open } = await following(lodge);
    const streams = await Promise.all(Array.from({ length: 50 }, () => open()));
    while (lodge.agents.listeners < 50) await sleep(5);
    const refused = await open();
    assert.equal(refused.response.status, 429);
    assert.ok(Number(refused.response.headers.get('retry-after')) > 0);
    refused.end();
    await streams[0]!.events(1);
    streams[0]!.end();
    while (lodge.agents.listeners === 50) await sleep(5);
    const again = await open();
    assert.equal(again.response.status, 200);
    for (const stream of [...streams, again]) stream.end();
    await lodge.app.close();
  });

  test('400: a Last-Event-ID that is no id; HEAD opens no stream', async () => {
    const { call, row } = withLog(1);
    const url = `/v1/agents/${row.id}/logs?follow=true`;
    const wrong = await call('GET', url, { headers: { 'last-event-id': 'x' } });
    assert.equal(wrong.status, 400);
    assert.match(wrong.body.error.message, /^last-event-id/);
    const head = await call('HEAD', url);
    assert.deepEqual([head.status, head.text], [200, '']);
    assert.match(String(head.headers['content-type']), /event-stream/);
  });
});
