/**
 * The SDK over connections that fail: each fault with a call that may be repeated, one that may not, and each kind of stream.
 * Nothing is lost, doubled or hung, and what is ended ends what it began.
 */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConnectionError, Lodge, RateLimitError, ServerError, TimeoutError } from '@lodge/sdk';
import { downloadFile, uploadFile } from '@lodge/sdk/node';
import { FaultyProxy } from '@lodge/testkit/faulty-proxy';
import type { Fault } from '@lodge/testkit/faulty-proxy';
import { openWorld } from '../e2e/api/world.ts';
import type { World } from '../e2e/api/world.ts';

let world: World;
let id: string;
let here: string;
before(async () => {
  world = await openWorld({ withGuest: true });
  const lodge = new Lodge({ baseUrl: world.url, apiKey: world.key });
  id = (await lodge.agents.create({ name: 'first' })).id;
  await lodge.agents.waitUntil(id, 'running');
  here = await mkdtemp(join(tmpdir(), 'sdk-faults-'));
});
after(async () => {
  await world?.close();
  await rm(here, { recursive: true, force: true });
});

/** A client behind a proxy of its own. */
async function through<T>(work: (lodge: Lodge, proxy: FaultyProxy) => Promise<T>, target = world.url): Promise<T> {
  const proxy = await FaultyProxy.start(target);
  try {
    return await work(new Lodge({ baseUrl: proxy.url, apiKey: world.key, timeoutMs: 5_000 }), proxy);
  } finally {
    await proxy.close();
  }
}

const faults: Readonly<Record<string, Fault>> = {
  'cut before it was sent on': { kind: 'cut_before' },
  'cut after it was carried out': { kind: 'cut_after' },
  'half a reply': { kind: 'cut_body', bytes: 10 },
  'no reply but its head': { kind: 'cut_body', bytes: 0 },
  '429 with Retry-After': { kind: 'status', status: 429, retryAfter: 0 },
  '429 without': { kind: 'status', status: 429 },
  '500': { kind: 'status', status: 500 },
  '503 with Retry-After': { kind: 'status', status: 503, retryAfter: 0 },
  '503 without': { kind: 'status', status: 503 },
  '502 of a proxy that speaks HTML': { kind: 'status', status: 502, body: '<html>Bad gateway</html>' },
  'a slow server': { kind: 'slow', ms: 2_000 },
  'a reply that never ends': { kind: 'stall', bytes: 5 },
};
/** After these a request may be repeated that has no key, because nothing was done. */
const harmless: readonly string[] = ['429 with Retry-After', '503 with Retry-After'];

/** Short where it will pass. */
const timeoutFor = ({ kind }: Fault): number => (kind === 'slow' || kind === 'stall' ? 500 : 10_000);

test('what may be repeated succeeds at last, whatever the fault, and has its effect once', async () => {
  await Promise.all(
    Object.entries(faults).map(([name, fault]) =>
      through(async (lodge, proxy) => {
        const timeoutMs = timeoutFor(fault);
        proxy.fail({ fault, times: 2 });
        const agent = await lodge.agents.create({ name }, { wait: false, timeoutMs, maxRetries: 10 });
        assert.ok(timeoutMs === 500 || proxy.requests.length === 3, name);
        const keys = new Set(proxy.requests.map(({ headers }) => headers['idempotency-key']));
        assert.equal(keys.size, 1, name);
        proxy.fail({ fault });
        assert.equal((await lodge.agents.get(agent.id, { timeoutMs })).name, name);
        const path = `faults/${agent.id}.txt`;
        proxy.fail({ fault, method: 'PUT' });
        assert.equal((await lodge.files.write(id, path, name, { timeoutMs })).size, name.length);
        proxy.fail({ fault, method: 'GET' });
        assert.equal(await (await lodge.files.read(id, path, { timeoutMs })).text(), name);
      }),
    ),
  );
  const made = new Lodge({ baseUrl: world.url, apiKey: world.key });
  const names: string[] = [];
  for await (const { name } of made.agents.list({ limit: 100 })) if (name !== 'first') names.push(name);
  assert.deepEqual(names.sort(), Object.keys(faults).sort());
});

test('what may not be repeated is sent once, and its error says what is known', async () => {
  await Promise.all(
    Object.entries(faults).map(([name, fault]) =>
      through(async (lodge, proxy) => {
        proxy.fail({ fault });
        const command = `echo x >> "once-${name}"`;
        const timeoutMs = timeoutFor(fault);
        const outcome = await lodge.exec.run(id, { command }, { timeoutMs }).catch((error: unknown) => error);
        if (harmless.includes(name)) assert.equal((outcome as { exit_code: number }).exit_code, 0, name);
        else assert.ok(outcome instanceof Error, name);
        assert.equal(proxy.requests.length, harmless.includes(name) ? 2 : 1, name);
        if (fault.kind.startsWith('cut'))
          assert.ok(outcome instanceof ConnectionError && outcome.mayHaveBeenSent, name);
        if (fault.kind === 'slow' || fault.kind === 'stall') assert.ok(outcome instanceof TimeoutError, name);
        if (name === '429 without') assert.ok(outcome instanceof RateLimitError);
        if (name.startsWith('50') && !harmless.includes(name)) assert.ok(outcome instanceof ServerError, name);
        const file = await lodge.files.read(id, `once-${name}`).catch(() => null);
        if (file !== null) assert.equal(await file.text(), 'x\n', name);
      }),
    ),
  );
});

test('a server that is away is waited for, also with what may not be repeated', async () => {
  await through(async (lodge, proxy) => {
    await proxy.down();
    const [run, account] = [lodge.exec.run(id, { command: 'true' }), lodge.account.update({ record_llm_calls: false })];
    await sleep(300);
    await proxy.up();
    assert.equal((await run).exit_code, 0);
    assert.equal((await account).record_llm_calls, false);
    await proxy.down();
    await assert.rejects(
      lodge.agents.get(id, { maxRetries: 1 }),
      (error) => error instanceof ConnectionError && !error.mayHaveBeenSent,
    );
    const waiting = lodge.agents.waitUntil(id, 'running');
    await sleep(300);
    await proxy.up();
    assert.equal((await waiting).id, id);
  });
});

test('a long Retry-After is not waited for, and a server that says never is believed', async () => {
  await through(async (lodge, proxy) => {
    proxy.fail({ fault: { kind: 'status', status: 429, retryAfter: 600 } });
    await assert.rejects(lodge.agents.get(id), { retryAfterSeconds: 600 });
    assert.equal(proxy.requests.length, 1);
  });
});

test('a quota that is used up is an answer, and not waited for, unless Retry-After is short', async () => {
  await through(async (lodge, proxy) => {
    const body = JSON.stringify({ error: { type: 'rate_limit_error', code: 'quota_exceeded', message: 'Full.' } });
    for (const retryAfter of [undefined, 60, 6]) {
      const fault = { kind: 'status', status: 429, body, ...(retryAfter !== undefined && { retryAfter }) } as const;
      const count = proxy.requests.length;
      proxy.fail({ fault });
      await assert.rejects(lodge.agents.get(id), { code: 'quota_exceeded' });
      assert.equal(proxy.requests.length, count + 1);
    }
    proxy.fail({ fault: { kind: 'status', status: 429, body, retryAfter: 0 } });
    assert.equal((await lodge.agents.get(id)).id, id);
  });
});

test('a write on a condition whose reply was lost is no conflict', async () => {
  await through(async (lodge, proxy) => {
    proxy.fail({ fault: { kind: 'cut_before' }, method: 'PUT' });
    await lodge.files.write(id, 'conditional', 'one', { isNew: true });
    proxy.fail({ fault: { kind: 'cut_after' }, method: 'PUT' });
    const { etag } = await lodge.files.read(id, 'conditional');
    await assert.rejects(
      lodge.files.write(id, 'conditional', 'two', { ifMatch: etag }),
      (error) => error instanceof ConnectionError && error.mayHaveBeenSent,
    );
    assert.equal(await (await lodge.files.read(id, 'conditional')).text(), 'two');
    await assert.rejects(lodge.files.write(id, 'conditional', 'three', { ifMatch: etag }), { status: 412 });
  });
});

test('a request whose first try is under way is waited for, beyond the number of tries', async () => {
  await through(async (lodge, proxy) => {
    const error = { type: 'invalid_request_error', code: 'idempotency_in_progress', message: 'It is under way.' };
    proxy.fail({ fault: { kind: 'status', status: 409, retryAfter: 0, body: JSON.stringify({ error }) }, times: 5 });
    const { id: made } = await lodge.agents.create({ name: 'waited for' }, { maxRetries: 1 });
    assert.equal(proxy.requests.length, 6);
    await lodge.agents.delete(made);
  });
});

test('a long call is not cut by the bound of the platform', async () => {
  const platforms = Symbol.for('undici.globalDispatcher.1');
  const global = globalThis as unknown as Record<symbol, { constructor: new (options: object) => never }>;
  const own = global[platforms]!;
  global[platforms] = new own.constructor({ headersTimeout: 100 });
  try {
    await through(async (lodge, proxy) => {
      const slow = { kind: 'slow', ms: 2_500 } as const;
      proxy.fail({ fault: slow, times: 2 });
      const plain = fetch(`${proxy.url}/v1/sizes`).catch(({ cause }: Error) => cause);
      const messages = [{ role: 'user', content: 'x' }];
      const { choices } = await lodge.chat.create(id, { messages }, { timeoutMs: 20_000 });
      assert.equal(choices[0]?.message.content, 'plum');
      assert.equal(((await plain) as { code: string }).code, 'UND_ERR_HEADERS_TIMEOUT');
    });
  } finally {
    global[platforms] = own;
  }
});

test('a signal ends a call at once, wherever it is', async () => {
  await through(async (lodge, proxy) => {
    const ended = async (fault: Fault | null, call: (signal: AbortSignal) => Promise<unknown>): Promise<void> => {
      if (fault) proxy.fail({ fault, times: 10 });
      const stop = new AbortController();
      setTimeout(() => stop.abort(), 150);
      const startedAt = performance.now();
      await assert.rejects(call(stop.signal), { name: 'AbortError' });
      assert.ok(performance.now() - startedAt < 1_000);
      proxy.clear();
    };
    await ended({ kind: 'slow', ms: 3_000 }, (signal) => lodge.agents.get(id, { signal }));
    await ended({ kind: 'stall', bytes: 5 }, (signal) => lodge.agents.get(id, { signal }));
    await ended({ kind: 'status', status: 500 }, (signal) => lodge.agents.get(id, { signal }));
    await ended(null, async (signal) => {
      for await (const _ of lodge.agents.followLogs(id, {}, { signal })) void _;
    });
    await ended(null, async (signal) => {
      for await (const _ of lodge.exec.stream(id, { command: 'echo $$ > pid; sleep 600' }, { signal })) void _;
    });
    // The command ends with its connection.
    const alive = 'kill -0 $(cat pid) 2>/dev/null && echo alive || echo gone';
    for (let state = ''; state !== 'gone\n'; await sleep(50)) {
      state = (await lodge.exec.run(id, { command: alive })).stdout;
    }
  });
});

/** Events of the account, or of a log, made while a follower's connection is cut again and again. */
async function followed(
  lodge: Lodge,
  proxy: FaultyProxy,
  { list, disturb }: { list: 'events' | 'logs'; disturb: (n: number) => Promise<void> },
): Promise<readonly string[]> {
  const stop = new AbortController();
  const ids: string[] = [];
  const entries =
    list === 'events'
      ? lodge.events.follow({ agent_id: id, limit: 1 }, { signal: stop.signal })
      : lodge.agents.followLogs(id, { limit: 1 }, { signal: stop.signal });
  const reading = (async () => {
    for await (const entry of entries) ids.push(entry.id);
  })();
  while (ids.length === 0) await sleep(10);
  const direct = new Lodge({ baseUrl: world.url, apiKey: world.key });
  for (let n = 0; n < 6; n += 1) {
    await disturb(n);
    await (n % 2 === 0 ? direct.agents.pause(id) : direct.agents.resume(id));
  }
  const page =
    list === 'events' ? direct.events.list({ agent_id: id, limit: 100 }) : direct.agents.logs(id, { limit: 100 });
  const all = (await page).data.map((entry) => entry.id).toReversed();
  const wanted = all.slice(all.indexOf(ids[0]!));
  for (let tries = 0; ids.length < wanted.length && tries < 400; tries += 1) await sleep(25);
  stop.abort();
  await assert.rejects(reading, { name: 'AbortError' });
  assert.deepEqual(ids, wanted);
  assert.ok(wanted.length > 6, `${wanted.length}`);
  assert.ok(proxy.requests.length > 4, `${proxy.requests.length}`);
  return ids;
}

test('events and logs that are followed lose nothing and repeat nothing over cuts and half entries', async () => {
  for (const list of ['events', 'logs'] as const) {
    await through(async (lodge, proxy) => {
      proxy.fail(
        { fault: { kind: 'cut_body', bytes: 100 }, path: 'follow=true', times: 2 },
        { fault: { kind: 'status', status: 503 }, path: 'follow=true' },
        { fault: { kind: 'cut_body', bytes: 500 }, path: 'follow=true', times: 2 },
      );
      await followed(lodge, proxy, {
        list,
        async disturb(n) {
          if (n === 2) proxy.cut();
          if (n === 4) {
            await proxy.down();
            setTimeout(() => void proxy.up(), 300);
          }
        },
      });
    });
  }
});

test('half a chat or command is an error, at once, and not begun again', async () => {
  await through(async (lodge, proxy) => {
    const messages = [{ role: 'user', content: 'x' }];
    const streams = [
      (timeoutMs: number) => lodge.chat.stream(id, { messages }, { timeoutMs }),
      (timeoutMs: number) => lodge.responses.stream(id, { input: 'x' }, { timeoutMs }),
      (timeoutMs: number) => lodge.exec.stream(id, { command: 'seq 100' }, { timeoutMs }),
    ];
    for (const open of streams) {
      const count = proxy.requests.length;
      proxy.fail({ fault: { kind: 'cut_body', bytes: 40 } });
      const reading = (async () => {
        for await (const _ of open(20_000)) void _;
      })();
      await assert.rejects(reading, ConnectionError);
      assert.equal(proxy.requests.length, count + 1);
      proxy.fail({ fault: { kind: 'stall', bytes: 20 } });
      await assert.rejects(async () => open(300).next(), TimeoutError);
    }
  });
});

test('a download goes on where it was cut, and an upload is there whole or not at all', async () => {
  const body = new Uint8Array(3_000_000).map((_, i) => i % 251);
  const local = join(here, 'big');
  await writeFile(local, body);
  await through(async (lodge, proxy) => {
    proxy.fail({ fault: { kind: 'cut_upload', bytes: 1_000_000 }, method: 'PUT', times: 2 });
    assert.equal((await uploadFile(lodge, id, local, 'big')).size, body.length);
    assert.equal(proxy.requests.length, 3);
    proxy.fail({ fault: { kind: 'cut_body', bytes: 900_000 }, method: 'GET', times: 3 });
    await downloadFile(lodge, id, 'big', join(here, 'again'));
    assert.ok((await readFile(join(here, 'again'))).equals(body));
    const starts = proxy.requests
      .slice(3)
      .map(({ headers }) => Number(/^bytes=(\d+)-$/.exec(headers.range ?? 'bytes=0-')?.[1]));
    assert.equal(starts.length, 4, starts.join());
    // How much of what came before a cut fetch still hands out is its own affair; the next request begins right there.
    for (const [n, start] of starts.slice(1).entries()) {
      assert.ok(start > starts[n]! && start <= starts[n]! + 900_000, starts.join());
    }
    // A stream cannot be sent twice: the file stays as it was.
    proxy.fail({ fault: { kind: 'cut_upload', bytes: 1_000 }, method: 'PUT', times: 2 });
    const once = new Blob([body]).stream() as ReadableStream<Uint8Array>;
    await assert.rejects(lodge.files.write(id, 'big', once), ConnectionError);
    assert.equal((await lodge.files.read(id, 'big')).size, body.length);
  });
});

test('a download that was given up goes on at the next call, unless the file has changed', async () => {
  await through(async (lodge, proxy) => {
    const body = new Uint8Array(3_000_000).fill(1);
    await lodge.files.write(id, 'resumed', body);
    const target = join(here, 'folder', 'resumed');
    await mkdir(join(here, 'folder'));
    const stop = new AbortController();
    const onProgress = (done: number): void => {
      if (done > 1_500_000) stop.abort();
    };
    await assert.rejects(downloadFile(lodge, id, 'resumed', target, { signal: stop.signal, onProgress }), {
      name: 'AbortError',
    });
    assert.equal((await readdir(join(here, 'folder'))).length, 1);
    await downloadFile(lodge, id, 'resumed', target);
    assert.match(proxy.requests.at(-1)!.headers.range ?? '', /^bytes=1[5-9]\d{5}-$/);
    assert.deepEqual(await readdir(join(here, 'folder')), ['resumed']);
    assert.ok((await readFile(target)).equals(body));
  });
});
