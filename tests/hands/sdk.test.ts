/** The TypeScript SDK against the real API, with the real daemon of guests and without a machine. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { AuthenticationError, BadRequestError, isApiError, Lodge, NotFoundError, StateError } from '@lodge/sdk';
import type { AgentChat, ExecStreamEvent, LodgeEvent, ToolStep } from '@lodge/sdk';
import { WebSocket } from 'ws';
import { openWorld } from '../e2e/api/world.ts';
import type { World } from '../e2e/api/world.ts';
import { Client } from '../e2e/contract/states.ts';
import { places } from './operations.ts';

let world: World;
let lodge: Lodge;
let id: string;
before(async () => {
  world = await openWorld({ withGuest: true });
  lodge = new Lodge({ baseUrl: world.url, apiKey: world.key });
  id = (await lodge.agents.create({ name: 'first', metadata: { team: 'a' } })).id;
  await lodge.agents.waitUntil(id, 'running');
});
after(() => world?.close());

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>;
}

test('every operation has its method, and the table names no other', async () => {
  const text = await readFile(new URL('../../docs/reference/openapi.json', import.meta.url), 'utf8');
  const { paths } = JSON.parse(text) as Document;
  const ids = Object.values(paths).flatMap((item) => Object.values(item).map(({ operationId }) => operationId));
  assert.deepEqual(Object.keys(places).sort(), ids.sort());
  const missing = Object.entries(places).filter(([, { method }]) => {
    if (typeof method !== 'string') return false;
    const [resource, name] = method.split('.') as [keyof Lodge, string];
    const object = lodge[resource] as unknown as Readonly<Record<string, unknown>> | undefined;
    return typeof object?.[name] !== 'function';
  });
  assert.deepEqual(missing, []);
});

test('an agent is created, read, listed page by page, changed, stopped, started and deleted', async () => {
  for (const name of ['second', 'third']) await lodge.agents.create({ name, metadata: { team: 'b' } }, { wait: false });
  const first = await lodge.agents.list({ limit: 2, metadata: { team: 'b' } });
  assert.deepEqual([first.data.length, first.has_more, await first.next()], [2, false, null]);
  const names: string[] = [];
  for await (const { name } of lodge.agents.list({ limit: 1, order: 'asc' })) names.push(name);
  assert.deepEqual(names, ['first', 'second', 'third']);
  const page = await lodge.agents.list({ limit: 2 });
  assert.deepEqual(
    (await page.next())?.data.map(({ name }) => name),
    ['first'],
  );
  assert.deepEqual(Object.keys(page).sort(), ['data', 'has_more', 'next_cursor', 'object']);

  const other = first.data[0]!.id;
  assert.equal((await lodge.agents.waitUntil(other, 'running')).status, 'running');
  assert.equal((await lodge.agents.update(other, { description: 'of team b' })).description, 'of team b');
  assert.equal((await lodge.agents.stop(other)).status, 'stopped');
  assert.equal((await lodge.agents.start(other)).status, 'running');
  assert.equal((await lodge.agents.delete(other)).deleted, true);
  await assert.rejects(
    lodge.agents.get(other),
    (error) => error instanceof NotFoundError && isApiError(error, 'agent_not_found'),
  );
});

test('a refusal has its class, code, field and request id', async () => {
  await assert.rejects(lodge.agents.create({ name: '' }), (error) => {
    assert.ok(error instanceof BadRequestError);
    assert.deepEqual([error.status, error.code, error.field], [400, 'invalid_request', 'name']);
    assert.match(error.requestId ?? '', /./);
    return true;
  });
  const nobody = new Lodge({ baseUrl: `${world.url}/v1/`, apiKey: 'wrong' });
  await assert.rejects(async () => nobody.agents.list(), AuthenticationError);
  assert.throws(() => lodge.agents.get('..'), TypeError);
  await assert.rejects(lodge.files.read(id, '../../x'), TypeError);
});

test('files are written, listed, walked, read and removed', async () => {
  const seen: number[] = [];
  const body = new Uint8Array(300_000).fill(7);
  const written = await lodge.files.write(id, 'data/deep/seven.bin', body, { onProgress: (done) => seen.push(done) });
  assert.deepEqual([written.size, seen.at(-1)], [300_000, 300_000]);
  const content = await lodge.files.read(id, 'data/deep/seven.bin');
  assert.deepEqual([content.size, content.etag], [300_000, written.etag]);
  assert.deepEqual(await content.bytes(), body);
  assert.equal((await (await lodge.files.read(id, 'data/deep/seven.bin', { from: 299_990 })).bytes()).length, 10);
  await lodge.files.write(id, 'ä b?.json', JSON.stringify({ a: 1 }));
  assert.deepEqual(await (await lodge.files.read(id, 'ä b?.json')).json(), { a: 1 });
  const stream = new Blob(['from a stream']).stream() as ReadableStream<Uint8Array>;
  await lodge.files.write(id, 'stream.txt', stream);
  assert.equal(await (await lodge.files.read(id, '/stream.txt')).text(), 'from a stream');
  await assert.rejects(lodge.files.write(id, 'stream.txt', 'x', { isNew: true }), { status: 412 });
  await lodge.files.makeFolder(id, 'empty');
  const paths: string[] = [];
  for await (const { path } of lodge.files.walk(id)) paths.push(path);
  for (const path of ['data', 'data/deep', 'data/deep/seven.bin', 'empty', 'stream.txt'])
    assert.ok(paths.includes(path), path);
  await lodge.files.delete(id, 'data', { recursive: true });
  await assert.rejects(lodge.files.read(id, 'data/deep/seven.bin'), { code: 'file_not_found' });
});

test('a command runs to its end, or tells what it writes; stopping early kills it', async () => {
  const { stdout, exit_code: code } = await lodge.exec.run(id, { command: 'echo out; exit 3' });
  assert.deepEqual([stdout, code], ['out\n', 3]);
  const events: ExecStreamEvent[] = [];
  for await (const event of lodge.exec.stream(id, { command: 'echo one; echo two >&2' })) events.push(event);
  const texts = events.map((each) => (each.event === 'stdout' || each.event === 'stderr' ? each.data.text : ''));
  assert.deepEqual(texts.sort(), ['', 'one\n', 'two\n']);
  assert.equal(events.at(-1)!.event, 'exit');
  for await (const each of lodge.exec.stream(id, { command: 'echo $$; sleep 600' })) {
    assert.equal(each.event, 'stdout');
    break;
  }
});

test('a terminal shows what is typed, takes another size, and ends with its code', async () => {
  for (const webSocket of [undefined, WebSocket as never]) {
    const terminals = new Lodge({ baseUrl: world.url, apiKey: world.key, webSocket });
    const terminal = await terminals.terminal.open(id, { cols: 100, rows: 30 });
    terminal.resize(90, 20);
    // The size comes beside what is typed.
    terminal.write('while [ "$(stty size)" != "20 90" ]; do sleep 0.1; done; stty size; exit 7\n');
    let shown = '';
    for await (const chunk of terminal.output) shown += new TextDecoder().decode(chunk);
    assert.match(shown, /^20 90/m);
    assert.deepEqual(await terminal.closed, { exitCode: 7, reason: 'the shell has ended' });
  }
  await assert.rejects(lodge.terminal.open('aaaaaaaaaaaa'), { code: 'agent_not_found' });
});

test('chats answer whole, as a stream, and as a text', async () => {
  const messages = [{ role: 'user', content: 'Say a fruit' }];
  const { choices } = await lodge.chat.create(id, { messages });
  assert.equal(choices[0]!.message.content, 'plum');
  let said = '';
  for await (const chunk of lodge.chat.stream(id, { messages })) said += chunk.choices[0]?.delta.content ?? '';
  assert.equal(said, 'plum');
  assert.equal(await lodge.chat.ask(id, 'Say a fruit', { conversation: 'c1' }), 'plum');
  const steps: ToolStep[] = [];
  assert.equal(await lodge.chat.ask(id, 'Use a tool', { onStep: (step) => steps.push(step) }), 'plum');
  const used = { id: 'step_1', tool: 'exec', title: 'run tests' };
  assert.deepEqual(steps, [
    { ...used, status: 'started' },
    { ...used, status: 'completed' },
  ]);
  const asked = { messages: [{ role: 'user', content: 'Use a tool' }] };
  const stepsIn = async (body: AgentChat) =>
    (await Array.fromAsync(lodge.chat.stream(id, body), ({ step }) => step?.status)).filter((status) => status);
  assert.deepEqual(await stepsIn({ ...asked, stream_options: { include_steps: true } }), ['started', 'completed']);
  assert.deepEqual(await stepsIn(asked), []);
  assert.equal((await lodge.chat.completions({ model: id, messages })).choices[0]!.message.content, 'plum');
  const types: string[] = [];
  for await (const { type } of lodge.responses.stream(id, { input: 'Say a fruit' })) types.push(type);
  assert.equal(types.at(-1), 'response.completed');
  assert.equal((await lodge.responses.createFor({ model: id, input: 'x' })).output[0]!.content![0]!.text, 'plum');
  assert.deepEqual(
    (await lodge.models.agent(id)).data.map((model) => model.id),
    [id],
  );
});

test('events are followed from the newest on, and a signal ends it', async () => {
  const stop = new AbortController();
  const followed: LodgeEvent[] = [];
  const reading = (async () => {
    for await (const event of lodge.events.follow({ limit: 1, agent_id: id }, { signal: stop.signal }))
      followed.push(event);
  })();
  await lodge.agents.pause(id);
  await lodge.agents.resume(id);
  while (!followed.some(({ type }) => type === 'agent.resumed'))
    await new Promise((resolve) => setTimeout(resolve, 20));
  stop.abort();
  await assert.rejects(reading, { name: 'AbortError' });
  const ids = followed.map((event) => BigInt(event.id));
  assert.deepEqual(
    ids,
    [...new Set(ids)].sort((a, b) => (a < b ? -1 : 1)),
  );
});

test('what has no method is asked for by its path', async () => {
  const health = await lodge.request<{ status: string }>('get', '/v1/health');
  assert.equal(health.status, (await lodge.service.health()).status);
  const reply = await lodge.request('GET', 'agents', { query: { limit: 1 }, stream: true });
  assert.equal(reply.status, 200);
  assert.equal(((await reply.json()) as { data: unknown[] }).data.length, 1);
  assert.match(await lodge.usage.get({ starting_at: '2026-01-01T00:00:00Z', format: 'csv' }), /,/);
});

test('an agent that has failed is not waited for', async () => {
  const failed = await new Client(world).agent('error');
  const startedAt = performance.now();
  await assert.rejects(lodge.agents.waitUntil(failed, 'running'), StateError);
  assert.ok(performance.now() - startedAt < 5_000);
});
