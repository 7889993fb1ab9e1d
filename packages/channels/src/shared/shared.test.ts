import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LeaseLost } from '@lodge/ports';
import type { InboundMessage, Log } from '@lodge/ports';
import { Backoff } from './backoff.ts';
import { readJson, readUpTo, TooLargeError } from './bounded.ts';
import { committed } from './commit.ts';
import { DeadlineError, within } from './deadline.ts';
import { cut, fileName, idOf, isVisible, plainName } from './plain.ts';

const timings = { firstMs: 100, maxMs: 1_000, stableMs: 5_000 };
const quiet = { debug() {}, info() {}, warn() {}, error() {} } satisfies Log;
const quick = (): Backoff => new Backoff({ firstMs: 1, maxMs: 2, stableMs: 10 });

describe('backoff', () => {
  test('its bound doubles up to a maximum, and the wait is anywhere below', () => {
    const most = new Backoff(timings, Date.now, () => 1);
    assert.deepEqual(
      Array.from({ length: 6 }, () => most.next()),
      [100, 200, 400, 800, 1_000, 1_000],
    );
    const least = new Backoff(timings, Date.now, () => 0);
    assert.deepEqual([least.next(), least.next(3_000)], [0, 3_000]);
  });

  test('only a success that lasts begins anew', () => {
    let now = 0;
    const backoff = new Backoff(
      timings,
      () => now,
      () => 1,
    );
    backoff.next();
    backoff.next();
    backoff.succeeded();
    now += 4_999;
    assert.equal(backoff.next(), 400);
    backoff.succeeded();
    now += 3_000;
    backoff.succeeded();
    now += 2_000;
    assert.equal(backoff.next(), 100);
  });

  test('a wait ends with its signal', async () => {
    const ending = new AbortController();
    const waiting = new Backoff({ firstMs: 60_000, maxMs: 60_000, stableMs: 0 }, Date.now, () => 1).wait(ending.signal);
    ending.abort();
    await waiting;
  });
});

describe('bounded reads', () => {
  async function* chunks(count: number, end?: () => void): AsyncGenerator<Uint8Array> {
    try {
      for (let at = 0; at < count; at += 1) yield Buffer.alloc(10, 'a');
    } finally {
      end?.();
    }
  }

  test('a body beyond its bound is an error, and its source is ended', async () => {
    let ended = false;
    assert.equal((await readUpTo(chunks(3), 30)).length, 30);
    await assert.rejects(
      readUpTo(
        chunks(1e9, () => (ended = true)),
        30,
      ),
      TooLargeError,
    );
    assert.ok(ended);
  });

  test('JSON is bounded in depth', async () => {
    const body = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from('[[[1]]]');
    };
    const bounds = { bytes: 100, depth: 2, elements: 10 };
    await assert.rejects(readJson(body(), bounds), { name: 'JsonBoundsError' });
    assert.deepEqual(await readJson(body(), { ...bounds, depth: 3 }), [[[1]]]);
  });
});

describe('deadlines', () => {
  test('a call that ignores its signal is left after its time', async () => {
    const never = new AbortController().signal;
    await assert.rejects(
      within(5, never, () => new Promise(() => undefined)),
      DeadlineError,
    );
    assert.equal(await within(1_000, never, async () => 1), 1);
    await assert.rejects(
      within(1_000, AbortSignal.abort(new Error('closed')), async () => 1),
      { message: 'closed' },
    );
  });
});

describe('texts of strangers', () => {
  test('are cut between characters', () => {
    assert.equal(cut('ab😀', 3), 'ab');
    assert.equal(cut('ab😀', 4), 'ab😀');
  });

  test('names are plain and of bounded length', () => {
    assert.equal(plainName('a\u202eb\nc'), 'a b c');
    assert.equal(plainName('x'.repeat(1e6)).length, 200);
    assert.equal(plainName(7, 'nobody'), 'nobody');
    assert.equal(fileName('../../etc/passwd', 'file'), 'passwd');
    for (const name of ['..', '.', '', '/', 'a/', '\u0000']) assert.equal(fileName(name, 'file'), 'file');
    assert.equal(idOf({}), null);
    assert.equal(idOf(1.5), null);
    assert.equal(idOf(-100), '-100');
    assert.ok(!isVisible('\u200b\u2800 \n') && isVisible('.'));
  });
});

describe('commits', () => {
  const messages = Array.from({ length: 250 }, (_, id) => ({ id: String(id) }) as InboundMessage);

  test('are tried again until they succeed, in order, at most 100 at once, the cursor with the last', async () => {
    const calls: [number, unknown][] = [];
    let refusals = 2;
    const host = {
      log: quiet,
      at: async () => undefined,
      async received(some: readonly InboundMessage[], cursor?: unknown) {
        if (refusals-- > 0) throw new Error('no database');
        calls.push([some.length, cursor]);
      },
    };
    assert.ok(await committed(host, messages, { at: 1 }, { backoff: quick(), signal: new AbortController().signal }));
    assert.deepEqual(calls, [
      [100, undefined],
      [100, undefined],
      [50, { at: 1 }],
    ]);
  });

  test('that hang end with the connection, and are not taken for done', async () => {
    const closing = new AbortController();
    const host = { log: quiet, at: async () => undefined, received: () => new Promise<void>(() => undefined) };
    const waiting = committed(host, messages, undefined, { backoff: quick(), signal: closing.signal });
    closing.abort();
    assert.equal(await waiting, false);
  });

  test('a lost lease is told', async () => {
    const host = { log: quiet, at: () => Promise.reject(new LeaseLost()), received: async () => undefined };
    const tries = { backoff: quick(), signal: new AbortController().signal };
    await assert.rejects(committed(host, [], { at: 1 }, tries), LeaseLost);
  });
});
