/**
 * Each resource is changed by every verb in the first moment of its life: no loop runs here, so no lease was ever taken, nothing
 * was delivered, and no machine is there. Nothing is answered with a 5xx.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { openWorld } from './api/world.ts';
import type { Answer, World } from './api/world.ts';
import { Client } from './contract/states.ts';
import type { Schema } from './contract/document.ts';
import { invited, ownerOf } from './people.ts';
import type { Person } from './people.ts';

let world: World;
let client: Client;
let owner: Person;
const faults: string[] = [];

before(async () => {
  const onError = (fields: object, message: string) => void faults.push(`${message} ${JSON.stringify(fields)}`);
  world = await openWorld({ loops: false, createWaitMs: 0, lifecycleWaitMs: 0, onError });
  client = new Client(world);
  owner = await ownerOf(world);
});
after(() => world?.close());

const hook = { url: 'https://example.com/hook', events: ['agent.*'] };
const connection = { kind: 'mcp', url: 'https://mcp.example.com/' };
const messages = [{ role: 'user', content: 'x' }];
const every = { name: 'S', every: '1h', prompt: 'x' };

/** Bodies of an operation, each tried on resources of its own; without any, a request without a body. */
const bodies: Readonly<Record<string, readonly object[]>> = {
  'POST /v1/agents': [{ name: 'x' }],
  'PATCH /v1/agents/{id}': [
    { name: 'y', instructions: 'x', metadata: { a: 'b' }, peers: ['*'] },
    { model: 'openai/gpt-5', size: 'small', llm_keys: [{ provider: 'openai', api_key: 'sk-test-0001' }] },
    { lifecycle: { idle_timeout_seconds: 0, keep_awake: 'always' }, spend_limit: null, egress: { mode: 'none' } },
    { egress: { mode: 'allowlist', allow: ['example.com'] }, models: null },
  ],
  'POST /v1/agents/{id}/llm_keys/check': [{}],
  'POST /v1/agents/{id}/chat/completions': [{ messages }],
  'POST /v1/chat/completions': [{ messages, model: '{id}' }],
  'POST /v1/agents/{id}/responses': [{ input: 'x' }],
  'POST /v1/responses': [{ input: 'x', model: '{id}' }],
  'POST /v1/agents/{id}/exec': [{ command: 'true' }],
  'POST /v1/agents/{id}/links': [{}],
  'POST /v1/agents/{id}/members': [{ name: 'scout' }],
  'PATCH /v1/agents/{id}/members/{name}': [{ instructions: 'x' }, { model: null }],
  'POST /v1/agents/{id}/ports': [{ port: 4000 }, { port: 3000, public: true }, { port: 3000 }],
  'PUT /v1/agents/{id}/channels/{channel}': [{ botToken: '1:y' }, { botToken: '2:y' }, { access: { mode: 'open' } }],
  'POST /v1/agents/{id}/channels/{channel}/approvals': [
    { code: 'ABCDEFGH', action: 'approve' },
    { code: 'x', action: 'deny' },
  ],
  'POST /v1/agents/{id}/channels/whatsapp/pair': [{}, { phone_number: '+15550100' }],
  'POST /v1/agents/{id}/channels/gmail/oauth/start': [{}],
  'PUT /v1/agents/{id}/connections/{name}': [
    connection,
    { ...connection, kind: 'http', allow: [{ methods: ['GET'], paths: ['/x'] }] },
    { ...connection, url: 'https://other.example.com/', headers: { authorization: 'Bearer x' } },
  ],
  'POST /v1/agents/{id}/connections/{name}/oauth/start': [{}],
  'POST /v1/webhooks': [hook, { ...hook, enabled: false }],
  'PATCH /v1/webhooks/{webhook}': [{ url: 'https://example.com/other' }, { events: ['*'], description: 'x' }],
  'POST /v1/webhooks/{webhook}/rotate': [{}, { overlap_seconds: 0 }],
  'POST /v1/agents/{id}/schedules': [every],
  'PATCH /v1/agents/{id}/schedules/{schedule}': [{ every: '2h' }, { cron: '* * * * *' }, { prompt: 'y', name: 'T' }],
  'POST /v1/agents/{id}/snapshots': [{ memory: false }],
  'POST /v1/agents/{id}/restore': [{ snapshot: 'before_last_turn' }],
  'POST /v1/agents/{id}/fork': [{ count: 2 }],
  'PATCH /v1/snapshots/{snapshot}': [{ name: 'x' }],
  'POST /v1/agents/{id}/hooks': [{ name: 'H' }],
  'POST /v1/skills': [{ hub: { name: 'clawhub', slug: 'x' } }],
  'POST /v1/confirmations/{confirmation}': [{ decision: 'allow' }],
  'PATCH /v1/account': [{ record_llm_calls: true }],
  'POST /v1/account/password': [{ current_password: 'x', new_password: 'another horse battery' }],
  'DELETE /v1/account/totp': [{ password: 'x', code: '000000' }],
  'POST /v1/account/totp': [{ password: 'x' }],
  'POST /v1/account/totp/confirm': [{ code: '000000' }],
  'POST /v1/account/keys': [{ name: 'k', scopes: ['agents:read'] }],
  'POST /v1/account/invitations': [{ role: 'member' }],
  'POST /v1/fingerprints': [{ values: [{ for: 'llm_key', value: 'x' }] }],
  'POST /v1/account/device': [{ user_code: 'BCDF-GHJK' }],
  'POST /v1/account/device/decision': [{ user_code: 'BCDF-GHJK', approve: false }],
  'PUT /v1/account/people/{id}/spend-limit': [
    { spend_limit: null },
    { spend_limit: { daily_usd: '1.00', action: 'block' } },
  ],
};

/**
 * Signing out is the end of the person who asks; the rest of these begin sessions by a password or a link, want a WebSocket, the
 * bytes of a file, or a program that was registered.
 */
const isApart = (path: string): boolean =>
  path.endsWith('/terminal') ||
  path.endsWith('/tunnel') ||
  path.endsWith('/uploads/{upload}') ||
  path === '/v1/agents/import' ||
  /^\/v1\/(mcp|oauth\/|account\/authorization)/.test(path) ||
  /^\/v1\/account\/(sign-|sessions|links|setup|register|password-reset|invitations\/accept)/.test(path);

/** Bodies that are right, and refused for what the resource is. */
const mayRefuse = /dashboard can be true for runtime_b|totp\/confirm|device\/decision/;

async function made(answer: Promise<Answer>): Promise<Schema> {
  const { status, body, text } = await answer;
  assert.ok(status >= 200 && status < 300, text);
  return body;
}

const deliveries: Promise<Answer>[] = [];

/** The reply comes when the delivery has ended, which it does not here, so its id is read meanwhile. */
async function deliveryOf(base: string): Promise<string> {
  const webhook = base.replace('/deliveries', '');
  deliveries.push(client.call('POST', `${webhook}/test`));
  for (;;) {
    const [delivery] = (await made(client.call('GET', `${webhook}/deliveries`))).data;
    if (delivery) return delivery.id as string;
    await setImmediate();
  }
}

/** Resources of a path, all of them new; `{name}` is a member's or a connection's. */
const makers: readonly [pattern: RegExp, make: (base: string) => Promise<string>][] = [
  [/^\/agents\/\{id\}/, async () => (await made(client.call('POST', '/agents', { name: 'x' }))).id],
  [/\/members\/\{name\}/, async (base) => (await made(client.call('POST', `${base}/members`, { name: 'scout' }))).name],
  [
    /\/connections\/\{name\}/,
    async (base) => (await made(client.call('PUT', `${base}/connections/c1`, connection))).name,
  ],
  [/\{port\}/, async (base) => String((await made(client.call('POST', `${base}/ports`, { port: 3000 }))).port)],
  [
    /\{channel\}/,
    async (base) => {
      await made(client.call('PUT', `${base}/channels/telegram`, { botToken: `${String(Math.random()).slice(2)}:x` }));
      return 'telegram';
    },
  ],
  [/\{schedule\}/, async (base) => (await made(client.call('POST', `${base}/schedules`, every))).id],
  [/\{hook\}/, async (base) => (await made(client.call('POST', `${base}/hooks`, { name: 'H' }))).id],
  // There is none of these yet: what is asked of one that is not there.
  [/\{message\}/, () => Promise.resolve('1')],
  [/\/grants\/\{id\}/, () => Promise.resolve('1')],
  [/\{upload\}/, () => Promise.resolve('0123456789abcdef')],
  [/\{snapshot\}/, () => Promise.resolve('none')],
  [/\{confirmation\}/, () => Promise.resolve('none')],
  [/\{skill\}/, () => Promise.resolve('none')],
  [/\/skills\/\{name\}/, () => Promise.resolve('none')],
  [/\{call_id\}/, () => Promise.resolve('00000000-0000-4000-8000-000000000000')],
  [/\{token\}/, () => Promise.resolve('A'.repeat(43))],
  [/\{path\}/, () => Promise.resolve('a.txt')],
  [/\{webhook\}/, async () => (await made(client.call('POST', '/webhooks', hook))).id],
  [/\{delivery\}/, deliveryOf],
  [
    /\/keys\/\{id\}/,
    async () => (await made(owner.call('POST', '/account/keys', { name: 'k', scopes: ['agents:read'] }))).id,
  ],
  [
    /\/invitations\/\{id\}/,
    async () => (await made(owner.call('POST', '/account/invitations', { role: 'member' }))).id,
  ],
  [/\/people\/\{id\}/, async () => (await invited(owner, 'member')).accountId],
];

/** The path with new resources in the place of its parameters, and the agent's id. */
async function fresh(path: string): Promise<{ readonly target: string; readonly id: string }> {
  let target = path.slice('/v1'.length);
  let id = '';
  for (let found = /\{(\w+)\}/.exec(target); found !== null; found = /\{(\w+)\}/.exec(target)) {
    const { index, 0: parameter } = found;
    const upTo = target.slice(0, index + parameter.length);
    const maker = makers.find(([pattern]) => new RegExp(`${pattern.source}$`).test(upTo));
    assert.ok(maker, `a resource for ${upTo}`);
    const [, make] = maker;
    const value = await make(target.slice(0, index).replace(/\/\w+\/$/, ''));
    if (upTo === '/agents/{id}') id = value;
    target = target.replace(parameter, value);
  }
  if (path.startsWith('/v1/chat') || path.startsWith('/v1/responses'))
    id = (await made(client.call('POST', '/agents', { name: 'x' }))).id;
  return { target, id };
}

/** The table's bodies, and each switch of the body both ways. */
function bodiesOf(name: string, operation: Schema, document: Schema): readonly (object | undefined)[] {
  let schema = operation.requestBody?.content['application/json']?.schema ?? {};
  if (schema.$ref) schema = document.components.schemas[schema.$ref.split('/').at(-1)];
  const switches = Object.entries<Schema>(schema.properties ?? {}).filter(([, { type }]) => type === 'boolean');
  const both = switches.flatMap(([field]) => [{ [field]: false }, { [field]: true }]);
  const base = name.startsWith('PATCH') ? {} : bodies[name]?.[0];
  return [...(bodies[name] ?? [undefined]), ...both.map((body) => ({ ...base, ...body }))];
}

test('every verb on every resource in the first moment of its life: no 5xx', async () => {
  const document = (await client.call('GET', '/openapi.json')).body;
  const problems: string[] = [];
  let answers = 0;
  const trial = async (method: string, path: string, body: object | undefined): Promise<void> => {
    const { target, id } = await fresh(path);
    const json = body && JSON.parse(JSON.stringify(body).replaceAll('{id}', id));
    const asks = path.startsWith('/v1/account/') ? owner : client;
    // No loop ends the agent's machine.
    const wait = method === 'DELETE' && path === '/v1/agents/{id}' ? '?wait=false' : '';
    const { status, text } = await asks.call(method, target + wait, json);
    answers += 1;
    const isFault = status >= 500 || (status === 400 && !mayRefuse.test(`${method} ${path} ${text}`));
    if (isFault) problems.push(`${method} ${path} ${JSON.stringify(json)}: ${status} ${text.slice(0, 200)}`);
  };
  const trials = Object.entries<Record<string, Schema>>(document.paths).flatMap(([path, item]) =>
    isApart(path)
      ? []
      : Object.entries(item).flatMap(([verb, operation]) => {
          const method = verb.toUpperCase();
          return bodiesOf(`${method} ${path}`, operation, document).map((body) => trial(method, path, body));
        }),
  );
  await Promise.all(trials);
  await Promise.all(deliveries);
  assert.deepEqual([problems, faults], [[], []]);
  assert.ok(answers > 100);
});
