import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { AgentSettings, MemberSettings, RuntimeFacts } from '@lodge/ports';
import { configPath, openclawConfig } from './config.ts';
import { createOpenclawRuntime } from './runtime.ts';
import { ok, startStubGuest, type StubGuest } from './testing/stub-guest.ts';

const runtime = createOpenclawRuntime();
const token = 'abcdef0123456789'.repeat(4);
const facts: RuntimeFacts = { token, suspensionId: 's-1' };
const never = new AbortController().signal;
let guest: StubGuest;

beforeEach(async () => {
  guest = await startStubGuest();
  guest.files.set(configPath, openclawConfig(token));
});
afterEach(() => guest.close());

const member = (name: string, rest: Partial<MemberSettings> = {}): MemberSettings => ({
  name,
  model: null,
  api: 'openai-completions',
  contextWindow: null,
  instructions: null,
  ...rest,
});
const settings = (rest: Partial<AgentSettings> = {}): AgentSettings => ({
  agentId: 'a',
  api: 'anthropic-messages',
  contextWindow: null,
  model: 'acme/m',
  instructions: null,
  dashboard: false,
  browser: false,
  env: {},
  asksBeforeCommands: false,
  hosts: null,
  members: [],
  ...rest,
});
const apply = (wanted: AgentSettings): Promise<void> => runtime.apply(guest, facts, wanted, never);
const rpcs = (): string[] => guest.events.filter((event) => event.startsWith('rpc '));
const members = (): string[] => {
  const { agents } = JSON.parse(guest.files.get(configPath)!) as { agents: { entries: object } };
  return Object.keys(agents.entries).filter((name) => name !== 'main');
};

test('an agent without instructions and members wants the guest its template makes; model and provider change nothing', () => {
  assert.equal(runtime.inGuest(settings({ model: 'other/m', api: 'google-generative-ai', contextWindow: 1 })), null);
  assert.notEqual(runtime.inGuest(settings({ instructions: 'x' })), null);
  const one = runtime.inGuest(settings({ members: [member('scout', { model: 'a/b' })] }));
  const other = runtime.inGuest(settings({ members: [member('scout', { model: 'c/d' })] }));
  assert.deepEqual(one, other);
});

test('instructions alone ask nothing of the gateway', async () => {
  await apply(settings({ instructions: 'Be brief.' }));
  assert.deepEqual(rpcs(), []);
  assert.equal(guest.events.at(-1), 'sync false');
});

test('members come with workspace, tools and profile, tools all in one change; a second time nothing is asked', async () => {
  const wanted = settings({ members: [member('scout', { instructions: 'Look.' }), member('writer')] });
  await apply(wanted);
  assert.deepEqual(members(), ['scout', 'writer']);
  const asked = ['agents.create', 'agents.create', 'config.get', 'config.patch', 'agents.list'];
  assert.deepEqual(
    rpcs(),
    asked.map((method) => `rpc ${method}`),
  );
  const { agents } = JSON.parse(guest.files.get(configPath)!) as {
    agents: { entries: Record<string, { workspace: string; tools: { allow: string[] } }> };
  };
  assert.equal(agents.entries['scout']?.workspace, '/workspace/members/scout');
  assert.deepEqual(agents.entries['scout']?.tools, agents.entries['main']?.tools);
  assert.match(guest.files.get('/workspace/members/scout/auth-profiles.json')!, /"type": "api_key"/);
  await apply(wanted);
  assert.equal(rpcs().length, asked.length);
});

test('a member that is not wanted any more goes with workspace and sessions, also when the removal was cut short before', async () => {
  await apply(settings({ members: [member('scout'), member('writer')] }));
  guest.gateway.rpc['agents.list'] = [{ status: 500, body: { ok: false, error: { message: 'cut' } } }];
  await assert.rejects(apply(settings({ members: [member('writer')] })));
  delete guest.gateway.rpc['agents.list'];
  guest.events.length = 0;
  await apply(settings({ members: [member('writer')] }));
  assert.deepEqual(members(), ['writer']);
  assert.ok(
    guest.events.some((event) => event === 'exec writer'),
    'remains are removed, but for the members there are',
  );
  await apply(settings());
  assert.deepEqual(members(), []);
  assert.ok(guest.events.includes('exec /workspace/members/writer'));
});

test('a member comes back under the name of one that went', async () => {
  for (const wanted of [settings({ members: [member('scout')] }), settings(), settings({ members: [member('scout')] })])
    await apply(wanted);
  assert.deepEqual(members(), ['scout']);
});

test('a member whose creation was cut short gets its tools', async () => {
  guest.gateway.rpc['config.patch'] = [{ status: 500, body: { ok: false, error: { message: 'cut' } } }];
  await assert.rejects(apply(settings({ members: [member('scout')] })));
  delete guest.gateway.rpc['config.patch'];
  await apply(settings({ members: [member('scout')] }));
  const { agents } = JSON.parse(guest.files.get(configPath)!) as { agents: { entries: Record<string, object> } };
  assert.ok('tools' in agents.entries['scout']!);
});

test('a deletion that OpenClaw has not ended is ended before its name is given again', async () => {
  const message = 'agent "scout" deletion cleanup is still pending';
  const created = { status: 200, body: { ok: true, payload: {} } };
  guest.gateway.rpc['agents.create'] = [{ status: 400, body: { ok: false, error: { message } } }, created];
  await apply(settings({ members: [member('scout')] }));
  assert.deepEqual(rpcs().slice(0, 3), ['rpc agents.create', 'rpc agents.delete', 'rpc agents.create']);
});

test('it is over only when the gateway lists the members', async () => {
  guest.gateway.rpc['agents.list'] = [
    ok({ agents: [{ id: 'main' }] }),
    ok({ agents: [{ id: 'scout' }, { id: 'main' }] }),
  ];
  await apply(settings({ members: [member('scout')] }));
  assert.equal(rpcs().filter((event) => event === 'rpc agents.list').length, 2);
});

test('a member is spoken to in sessions of its own, by its own model or the agent’s', () => {
  const wanted = settings({ members: [member('scout', { model: 'google/gemini-3', api: 'google-generative-ai' })] });
  const at = (name: string | null, given: RuntimeFacts = { ...facts, apis: ['google-generative-ai'] }) =>
    runtime.chatEndpoint(guest, given, wanted, { member: name, conversation: 'c', pictures: true });
  const scout = at('scout');
  assert.equal(scout.model, 'openclaw/scout');
  assert.equal(scout.headers['x-openclaw-session-key'], 'agent:scout:openai-user:c');
  assert.match(scout.headers['x-openclaw-model']!, /^lodge-google\/named-/);
  assert.equal(
    at('scout', { ...facts, pictures: true }).takesPictures,
    false,
    'OpenClaw takes a model by name for blind',
  );
  assert.match(at('scout', facts).headers['x-openclaw-model']!, /^lodge\/named-/, 'a template from before that API');
  assert.equal(at(null).headers['x-openclaw-session-key'], 'agent:main:openai-user:c');
});
