import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, test } from 'node:test';
import { RuntimeBusy, type AgentSettings, type RuntimeFacts } from '@lodge/ports';
import { awaitIdle, hermesGuest } from './gateway.ts';
import { createHermesRuntime } from './runtime.ts';
import { startStubGuest, type StubGuest } from './testing/stub-guest.ts';

const runtime = createHermesRuntime();
const settings: AgentSettings = {
  agentId: 'a',
  api: 'openai-completions',
  contextWindow: null,
  model: 'm',
  instructions: null,
  dashboard: false,
  browser: false,
  env: {},
  asksBeforeCommands: false,
  hosts: null,
  members: [],
};
const token = 'abcdef0123456789'.repeat(4);
const facts: RuntimeFacts = { token };
const never = new AbortController().signal;
let guest: StubGuest;

beforeEach(async () => {
  guest = await startStubGuest();
});
afterEach(() => guest.close());

test('a template is configured, warmed on both wires, synced and warmed again; its token is in no other file', async () => {
  const { token: made } = await runtime.prepareTemplate(guest, () => undefined, never);
  assert.match(String(made), /^[0-9a-f]{64}$/);
  const { events } = guest;
  assert.deepEqual(events.slice(0, 3), [
    'wrote /workspace/config.yaml 600 agent',
    'wrote /workspace/.env 600 agent',
    'wrote /home/agent/.lodge/gateway.env 600 agent',
  ]);
  const sync = events.indexOf('sync true');
  const before = new Set(events.slice(3, sync));
  for (const api of ['openai-completions', 'anthropic-messages']) {
    assert.ok(before.has(`chat ${api}/default stream`) && before.has(`chat ${api}/default whole`), api);
  }
  assert.deepEqual(events.slice(sync + 1), [
    'chat anthropic-messages/default stream',
    'chat openai-completions/default stream',
    'exec cd /var/log/lodge/runtime && rm -f [0-9]*.log && : > current',
  ]);
  const holders = [...guest.files].filter(([, text]) => text.includes(String(made))).map(([path]) => path);
  assert.deepEqual(holders, ['/home/agent/.lodge/gateway.env']);
});

test('a clone is asked only whether it serves', async () => {
  await runtime.resume(guest, facts, settings, never);
  assert.deepEqual(guest.events, []);
});

test('a stop waits for the turns in hand, then writes the disk out and drops the page cache', async () => {
  guest.work = 1;
  setTimeout(() => (guest.work = 0), 300);
  const startedAt = performance.now();
  assert.deepEqual(await runtime.quiesce(guest, facts, never), facts);
  assert.ok(performance.now() - startedAt >= 290);
  assert.deepEqual(guest.events, ['sync true']);
});

test('work that does not end in time is named', async () => {
  guest.work = 2;
  await assert.rejects(
    awaitIdle(hermesGuest(guest, token), 300, never),
    (error: Error) => error instanceof RuntimeBusy && /2 turns/.test(error.message),
  );
});

test('an agent is spoken to with its template’s token, by its provider’s API, in the conversation the client names', () => {
  const at = (change: Partial<AgentSettings>, conversation: string | null = null) =>
    runtime.chatEndpoint(guest, facts, { ...settings, ...change }, { member: null, conversation, pictures: false });
  assert.deepEqual(at({}), {
    dial: guest.dial,
    baseUrl: 'http://10.0.2.15:8642/v1',
    headers: { authorization: `Bearer ${token}` },
    model: 'openai-completions/default',
    takesPictures: false,
  });
  const seeing = { member: null, conversation: null, pictures: true };
  assert.equal(runtime.chatEndpoint(guest, { ...facts, pictures: true }, settings, seeing).takesPictures, true);
  assert.equal(at({ api: 'anthropic-messages', contextWindow: 70_000 }).model, 'anthropic-messages/default-64k');
  assert.equal(at({ api: 'google-generative-ai' }).model, 'openai-completions/default');
  const session = (name: string): string => at({}, name).headers['x-hermes-session-id']!;
  assert.match(session('Grüße ../.. \n'), /^user-[0-9a-f]{32}$/);
  assert.equal(session('one'), session('one'));
  assert.notEqual(session('one'), session('One'));
});

test('a default agent needs nothing done in its guest; instructions and a dashboard lie in it', () => {
  assert.equal(runtime.inGuest(settings), null);
  assert.notDeepEqual(
    runtime.inGuest({ ...settings, instructions: 'a' }),
    runtime.inGuest({ ...settings, dashboard: true }),
  );
});

test('instructions come and go in a block of SOUL.md, and what else is there stays', async () => {
  const soul = '/workspace/SOUL.md';
  guest.files.set(soul, 'You are Hermes.\n');
  await runtime.apply(guest, facts, { ...settings, instructions: 'Speak in rhymes.' }, never);
  const once = guest.files.get(soul)!;
  assert.match(once, /^You are Hermes\.\n\n<!--[^\n]*-->\nSpeak in rhymes\.\n<!--/);
  guest.files.set(soul, `${once}\nThe agent's own note.\n`);
  await runtime.apply(guest, facts, { ...settings, instructions: 'Be brief.' }, never);
  const changed = guest.files.get(soul)!;
  assert.match(changed, /Be brief\./);
  assert.match(changed, /own note\./);
  assert.doesNotMatch(changed, /rhymes/);
  guest.events.length = 0;
  await runtime.apply(guest, facts, { ...settings, instructions: 'Be brief.' }, never);
  assert.ok(!guest.events.some((event) => event.startsWith(`wrote ${soul}`)), 'what fits is not rewritten');
  await runtime.apply(guest, facts, settings, never);
  assert.equal(guest.files.get(soul), "You are Hermes.\n\n\n\nThe agent's own note.\n");
});

test('a SOUL.md that is longer than any prompt is put aside, and the instructions have effect', async () => {
  const soul = '/workspace/SOUL.md';
  guest.files.set(soul, 'x'.repeat(1024 * 1024 + 1));
  guest.events.length = 0;
  await runtime.apply(guest, facts, { ...settings, instructions: 'Be brief.' }, never);
  assert.ok(guest.events.includes(`exec ${soul}.too-long`));
  assert.match(guest.files.get(soul)!, /^<!--[^\n]*-->\nBe brief\.\n<!--[^\n]*-->\n$/);
});

test('the dashboard gets a login of the host’s making, and the host a session of it', async () => {
  await runtime.apply(guest, facts, { ...settings, dashboard: true }, never);
  const env = guest.files.get('/home/agent/.lodge/dashboard.env')!;
  assert.ok(!env.includes(token));
  const secret = Buffer.from(/_SECRET='([^']+)'/.exec(env)![1]!, 'base64');
  const { port, headers } = runtime.web(guest, facts, { ...settings, dashboard: true }, 'dashboard')!;
  assert.equal(port, 9119);
  const session = Buffer.from(/hermes_session_at=([^;]+)/.exec(headers['cookie']!)![1]!, 'base64url');
  const payload = session.subarray(0, -32);
  assert.deepEqual(createHmac('sha256', secret).update(payload).digest(), session.subarray(-32));
  const { exp } = JSON.parse(payload.toString()) as { exp: number };
  assert.ok(exp > Date.now() / 1000 + 3600);
  assert.equal(runtime.web(guest, facts, settings, 'dashboard'), null);
});

test('a gateway that does not answer, and one that does, by a look from outside', async () => {
  guest.health = { oomKills: 2, diskFreeMib: 5 };
  assert.deepEqual(await runtime.health(guest, facts, never), { gateway: null, oomKills: 2, diskFreeMib: 5 });
  await guest.close();
  assert.match((await runtime.health(guest, facts, never)).gateway!, /Hermes did not answer/);
});

test('log lines have the level their logger gave them, and no token', async () => {
  guest.runtimeLog = [
    '┌────┐',
    '│ ⚕ Hermes Gateway Starting... │',
    `WARNING gateway.run: key ${token} refused`,
    'ERROR agent.loop: it failed',
    '⏳ Retrying in 2.2s',
    '',
  ].join('\n');
  const { lines } = await runtime.readLog(guest, 0, never);
  assert.deepEqual(
    lines.map(({ level, message }) => [level, message]),
    [
      ['warn', 'gateway.run: key [token] refused'],
      ['error', 'agent.loop: it failed'],
      ['info', '⏳ Retrying in 2.2s'],
    ],
  );
});
