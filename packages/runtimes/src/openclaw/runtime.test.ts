import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { AgentSettings, RuntimeFacts } from '@lodge/ports';
import { RuntimeWaitError, until } from '../guest-runtime.ts';
import { openclawGuest } from './gateway.ts';
import { configPath, guestApis, modelFor } from './config.ts';
import { createOpenclawRuntime } from './runtime.ts';
import { ok, startStubGuest, type StubGuest } from './testing/stub-guest.ts';

const runtime = createOpenclawRuntime();
const settings: AgentSettings = {
  agentId: 'a',
  api: 'openai-completions',
  contextWindow: null,
  model: 'acme/m',
  instructions: null,
  dashboard: false,
  browser: false,
  env: {},
  asksBeforeCommands: false,
  hosts: null,
  members: [],
};
const token = 'abcdef0123456789'.repeat(4);
const facts: RuntimeFacts = { token, suspensionId: 's-1' };
const never = new AbortController().signal;
let guest: StubGuest;

beforeEach(async () => {
  guest = await startStubGuest();
});
afterEach(() => guest.close());

test('a template is configured, warmed on every wire, synced, warmed again and suspended, in this order', async () => {
  const steps: string[] = [];
  guest.gateway.rpc['gateway.suspend.prepare'] = [
    ok({ status: 'draining', suspensionId: 's-7', blockers: [{ kind: 'root-request' }] }),
    ok({ status: 'ready', suspensionId: 's-7' }),
  ];
  const prepared = await runtime.prepareTemplate(guest, (step) => steps.push(step), never);
  const written = JSON.parse(guest.files.get(configPath)!) as { gateway: { auth: { token: string } } };
  const { token: given } = written.gateway.auth;
  assert.deepEqual(prepared, { token: given, suspensionId: 's-7', apis: guestApis, pictures: true });
  assert.match(written.gateway.auth.token, /^[0-9a-f]{64}$/);
  const { events } = guest;
  assert.deepEqual(events.slice(0, 2), [
    'wrote /workspace/auth-profiles.json 600 agent',
    'wrote /home/agent/.openclaw/openclaw.json 600 agent',
  ]);
  const sync = events.indexOf('sync true');
  const before = new Set(events.slice(1, sync));
  const models = guestApis.map((api) => modelFor({ api, contextWindow: null }));
  for (const model of models) {
    assert.ok(before.has(`chat ${model} stream`) && before.has(`chat ${model} whole`), model);
  }
  assert.deepEqual(events.slice(sync + 1), [
    ...models.map((model) => `chat ${model} stream`),
    'rpc gateway.suspend.prepare',
    'rpc gateway.suspend.prepare',
    'exec cd /var/log/lodge/runtime && rm -f [0-9]*.log && : > current',
  ]);
  assert.ok(steps.every((step) => !step.includes(written.gateway.auth.token)));
});

test('two templates never share a token', async () => {
  const first = await runtime.prepareTemplate(guest, () => undefined, never);
  const second = await runtime.prepareTemplate(guest, () => undefined, never);
  assert.notEqual(first['token'], second['token']);
});

test('a clone is resumed with one call', async () => {
  await runtime.resume(guest, facts, settings, never);
  assert.deepEqual(guest.events, ['rpc gateway.suspend.resume', 'released s-1']);
});

test('a clone whose suspension ran out before it was resumed serves all the same', async () => {
  guest.gateway.rpc['gateway.suspend.resume'] = [ok({ ok: true, status: 'running', resumed: false })];
  await runtime.resume(guest, facts, settings, never);
});

test('a clone that is still taking up its work is asked again', async () => {
  const unavailable = { status: 503, body: { ok: false, error: { code: 'UNAVAILABLE', message: 'recovering' } } };
  guest.gateway.rpc['gateway.suspend.resume'] = [unavailable, unavailable, ok({ resumed: true })];
  await runtime.resume(guest, facts, settings, never);
  assert.equal(guest.events.filter((event) => event.startsWith('rpc')).length, 3);
});

const mismatch = { status: 400, body: { ok: false, error: { code: 'INVALID_REQUEST', message: 'id does not match' } } };

test('a suspension whose id was never kept is joined and ended: no crash leaves a gateway shut', async () => {
  guest.gateway.rpc['gateway.suspend.resume'] = [mismatch, ok({ resumed: true })];
  guest.gateway.rpc['gateway.suspend.prepare'] = [ok({ status: 'ready', suspensionId: 's-lost' })];
  await runtime.resume(guest, facts, settings, never);
  assert.deepEqual(guest.events, [
    'rpc gateway.suspend.resume',
    'rpc gateway.suspend.prepare',
    'rpc gateway.suspend.resume',
    'released s-lost',
  ]);
});

test('a refusal is not asked again, and says why', async () => {
  const refusal = { status: 401, body: { ok: false, error: { code: 'UNAUTHORIZED', message: 'another token' } } };
  guest.gateway.rpc['gateway.suspend.resume'] = [refusal];
  await assert.rejects(runtime.resume(guest, facts, settings, never), /another token/);
  assert.equal(guest.events.length, 1);
});

test('facts of another runtime are refused before the guest is spoken to', async () => {
  await assert.rejects(runtime.resume(guest, { token: 1 }, settings, never), TypeError);
  assert.deepEqual(guest.events, []);
});

test('the caller can end a wait for a boot at any moment', async () => {
  guest.gateway.ready = false;
  const abort = new AbortController();
  setTimeout(() => abort.abort(new Error('enough')), 50);
  const startedAt = performance.now();
  await assert.rejects(runtime.awaitBoot(guest, facts, settings, abort.signal), /enough/);
  assert.ok(performance.now() - startedAt < 60_000);
});

test('a boot is over when the gateway serves', async () => {
  guest.gateway.ready = false;
  setTimeout(() => (guest.gateway.ready = true), 100);
  await runtime.awaitBoot(guest, facts, settings, never);
});

test('a runtime that ends again and again is not waited for, and its log without the token says why', async () => {
  guest.gateway.ready = false;
  guest.guestdLog = 'T error runtime ended with status 1, next start in 1000 ms\n'.repeat(9);
  guest.runtimeLog = 'no such option\n';
  const boot = runtime.awaitBoot(guest, facts, settings, never);
  setTimeout(() => (guest.guestdLog += 'T error runtime ended with status 78, next start in 1000 ms\n'.repeat(4)), 100);
  await assert.rejects(
    boot,
    (error: Error) => error instanceof RuntimeWaitError && /no such option/.test(error.message),
  );
});

test('what is waited for too long is named, with the end of the log but not the token', async () => {
  guest.runtimeLog = `${'x'.repeat(5000)}\nauth token=${token} refused\n`;
  const wait = { what: 'become ready', timeoutMs: 120, pauseMs: 20, attemptMs: 1_000, signal: never };
  const waiting = until(openclawGuest(guest, token), wait, async () => 'still loading');
  await assert.rejects(waiting, (error: Error) => {
    assert.match(error.message, /did not become ready within 0 s \(still loading\)/);
    assert.match(error.message, /auth token=\[token\] refused/);
    assert.ok(!error.message.includes(token));
    return true;
  });
});

test('a warm-up that fails ends the template', async () => {
  guest.gateway.chatStatus = 500;
  guest.runtimeLog = 'provider said no\n';
  await assert.rejects(
    runtime.prepareTemplate(guest, () => undefined, never),
    (error: Error) => /HTTP 500/.test(error.message) && /provider said no/.test(error.message),
  );
});

test('an agent is spoken to with its template’s token and its own provider', () => {
  const turn = { member: null, conversation: null, pictures: false };
  const speech = { api: 'anthropic-messages', contextWindow: 40_000 } as const;
  const endpoint = runtime.chatEndpoint(guest, facts, { ...settings, ...speech }, turn);
  assert.deepEqual(endpoint, {
    dial: guest.dial,
    baseUrl: 'http://10.0.2.15:18789/v1',
    headers: { authorization: `Bearer ${token}`, 'x-openclaw-model': 'lodge-anthropic/default-32k' },
    model: 'openclaw/main',
    takesPictures: false,
  });
});

test('a turn with pictures asks for a model that sees, where the guest knows one', () => {
  const turn = { member: null, conversation: null, pictures: true };
  const at = (given: RuntimeFacts, pictures = true) => {
    const { headers, takesPictures } = runtime.chatEndpoint(guest, given, settings, { ...turn, pictures });
    return [takesPictures, headers['x-openclaw-model']];
  };
  const seeing = { ...facts, pictures: true };
  assert.deepEqual(at(seeing), [true, 'lodge/default-pictures']);
  assert.deepEqual(at(seeing, false), [true, 'lodge/default']);
  assert.deepEqual(at(facts), [false, 'lodge/default'], 'a guest of an older template');
});

test('a conversation is a session of its own, whatever text names it', () => {
  const sessionOf = (conversation: string): string =>
    runtime.chatEndpoint(guest, facts, settings, { member: null, conversation, pictures: false }).headers[
      'x-openclaw-session-key'
    ]!;
  assert.equal(sessionOf('ada@example.com:1'), 'agent:main:openai-user:ada@example.com:1');
  const names = ['Ada', 'ada', 'ÄDA', 'a b', 'a\r\nx: y', '~', 'x'.repeat(200), 'x'.repeat(201)];
  const sessions = names.map(sessionOf);
  assert.equal(new Set(sessions.map((key) => key.toLowerCase())).size, names.length);
  for (const key of sessions) assert.match(key, /^agent:main:openai-user:[a-z0-9._:@~-]{1,128}$/);
});
