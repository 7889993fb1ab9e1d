/**
 * Sends every example of the OpenAPI document to the real API, and every operation that needs no body without one. Each is
 * answered with success and the reply that the document declares, except where the table says what is missing here.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { cryptography } from '@lodge/access';
import { defaultAccess } from '@lodge/domain';
import { createOwnerLink, createResetLink } from '@lodge/engine';
import { startOAuthServer } from '../../../packages/connections/src/testing/oauth-server.ts';
import { skillText, zipOf } from '../../../packages/skills/src/testing/archives.ts';
import type { OAuthServer } from '../../../packages/connections/src/testing/oauth-server.ts';
import { FakeCheck } from '../../../packages/testkit/src/plane/channels.ts';
import { RelayHand } from '../../../packages/testkit/src/plane/relay-hand.ts';
import { totp } from '../../web/totp.ts';
import { openWorld, send } from '../api/world.ts';
import type { Answer, World } from '../api/world.ts';
import { operationsOf } from './document.ts';
import type { Operation } from './document.ts';
import { examplesOf, requestOf, surprise } from './examples.ts';
import type { Sent, Values } from './examples.ts';
import { Replies } from './replies.ts';
import { Client } from './states.ts';

/** Operations that cannot succeed in this world, with their documented refusal and why. */
const refused: Readonly<Record<string, readonly [status: number, code: string, why: string]>> = {
  importAgent: [400, 'invalid_request', 'an example has no room for an export; portable.test.ts has some'],
  getLlmCall: [404, 'llm_call_not_found', 'the stub gateway makes no model calls'],
  startGmailOAuth: [409, 'gmail_not_configured', 'there is no Google client here'],
  getConfirmation: [404, 'confirmation_not_found', 'no agent asks anything here'],
  decideConfirmation: [404, 'confirmation_not_found', 'no agent asks anything here'],
  restoreAgent: [404, 'snapshot_not_found', 'the example names a snapshot of another deployment'],
  addSkill: [422, 'skill_source_failed', 'no repository outside of this machine is asked'],
  takeAgentBrowserControl: [409, 'browser_not_running', 'the agent has no browser here'],
  openAgentTerminal: [400, 'invalid_request', 'a terminal is a WebSocket, which other tests open'],
  openAgentPortTunnel: [400, 'invalid_request', 'a tunnel is a WebSocket, which other tests open'],
};

/** Queries that an operation is not itself without. */
const queries: Readonly<Record<string, string>> = {
  listAgentFiles: '?list=1',
  listSnapshotFiles: '?list=1',
};

let world: World;
let oauth: OAuthServer;
let client: Client;
let operations: Operation[];
let replies: Replies;
const sent = new Set<string>();
const isOfPerson = ({ path }: Operation): boolean =>
  (path.startsWith('/v1/account/') && path !== '/v1/account/spend') || /\/v1\/oauth\/(token|revoke)$/.test(path);

before(async () => {
  oauth = await startOAuthServer({ tools: () => [] });
  world = await openWorld({
    withGuest: true,
    // The guest's daemon has one folder that is an agent's.
    runtime: { data: { folders: ['/workspace'], except: [] } },
    relays: new FakeCheck(),
    settings: { LODGE_REGISTRATION: 'open', LODGE_CONNECTION_ADDRESSES: 'any' },
  });
  client = new Client(world);
  const document = (await client.call('GET', '/openapi.json')).body;
  operations = operationsOf(document);
  replies = new Replies(document);
});
after(async () => {
  await world?.close();
  await oauth?.close();
});

const idOf = (answer: Answer): string => {
  assert.ok(answer.status < 300, answer.text);
  return String(answer.body.id);
};

/** Makes a record for each parameter of a path. */
async function records(): Promise<Values> {
  const id = await client.agent('running');
  const agent = `/agents/${id}`;
  const at = async (method: string, path: string, body: object) => idOf(await client.call(method, path, body));
  await at('POST', `${agent}/members`, { name: 'scout' });
  await at('PUT', `${agent}/connections/notes`, { kind: 'mcp', url: oauth.url, auth: { kind: 'oauth' } });
  await at('PUT', `${agent}/channels/whatsapp`, {});
  const webhook = await at('POST', '/webhooks', { url: 'https://example.com/', events: ['*'] });
  const test = await client.call('POST', `/webhooks/${webhook}/test`);
  const hook = await client.call('POST', `${agent}/hooks`, { name: 'H', template: '{{greeting}}' });
  await skillOf(world, 'release-notes');
  await client.call('PUT', `${agent}/skills/release-notes`, {});
  return {
    id,
    member: 'scout',
    name: 'notes',
    channel: 'telegram',
    webhook,
    delivery: idOf(test),
    skill: await skillOf(world),
    agentSkill: 'release-notes',
    confirmation: 'none',
    hook: idOf(hook),
    token: hook.body.url.split('/').at(-1),
    snapshot: await at('POST', `${agent}/snapshots`, {}),
    schedule: await at('POST', `${agent}/schedules`, { name: 'S', every: '1h', prompt: 'x' }),
    port: '3000',
    path: 'project/notes',
    call_id: 'none',
    upload: '9f86d081884c7d659a2feaa0c55ad015',
    size: String('{"greeting":"Hello"}\n'.length),
    ...(await writtenTo(id)),
  };
}

/** A skill that was sent, with the file of the examples' path. */
async function skillOf({ url, key }: World, name = 'notes'): Promise<string> {
  const body = zipOf([
    { path: 'SKILL.md', content: skillText(name) },
    { path: 'project/notes', content: 'x' },
  ]);
  const headers = { 'x-api-key': key, 'content-type': 'application/zip' };
  const response = await fetch(`${url}/v1/skills`, { method: 'POST', headers, body });
  assert.equal(response.status, 201);
  return ((await response.json()) as { readonly id: string }).id;
}

/** A sender who waits for an approval, and a message that can be tried again. */
async function writtenTo(id: string): Promise<{ readonly approval: string; readonly message: string }> {
  const relay = await RelayHand.of(world.store, world.accountId, id, { ...defaultAccess });
  await relay.write('hello', { sender: 'eve' });
  const [asked] = (await client.call('GET', `/agents/${id}/channels/telegram/approvals`)).body.data;
  const [message] = (await client.call('GET', `/agents/${id}/messages`)).body.data;
  await world.sql.query("update channel_messages set state = 'failed', answer_id = null where id = $1", [message.id]);
  return { approval: asked.code, message: message.id };
}

/** Operations that others need, and those that take away what others need, each in its order. */
const early = ['uploadAgentFilePart', 'putAgentFile', 'publishAgentPort', 'startConnectionOAuth'];
const late = ['updateWebhook', 'pauseAgent', 'resumeAgent', 'stopAgent', 'startAgent'];

function inOrder(list: readonly Operation[]): Operation[] {
  const rankOf = ({ method, path, schema: { operationId } }: Operation): number => {
    if (method === 'DELETE') return path === '/v1/agents/{id}' ? 300 : 200;
    if (early.includes(operationId)) return early.indexOf(operationId) - 100;
    return 100 * Number(late.includes(operationId)) + late.indexOf(operationId);
  };
  return list.toSorted((a, b) => rankOf(a) - rankOf(b));
}

/** Sends one example and says how its answer surprises; null where it does not. */
async function trial(operation: Operation, example: unknown, values: Values, ask: Ask): Promise<string | null> {
  const { operationId } = operation.schema;
  const request = requestOf(operation, example, values);
  const headers = operationId === 'uploadAgentFilePart' ? { 'upload-offset': '0' } : {};
  const answer = await ask({ ...request, path: `${request.path}${queries[operationId] ?? ''}`, headers });
  sent.add(operationId);
  const problem = surprise(answer, refused[operationId]?.slice(0, 2)) ?? replies.problem(operation, answer);
  return problem && `${operationId} ${JSON.stringify(example)}: ${problem}`;
}

type Ask = (request: Sent) => Promise<Answer>;
const byKey: Ask = ({ method, path, body, headers = {} }) =>
  send(world.url, method, path, { key: world.key, headers, ...(body !== undefined && { body }) });

test('every example of what a key may do is answered with success', async () => {
  const values = await records();
  const problems: (string | null)[] = [];
  for (const operation of inOrder(operations.filter((one) => !isOfPerson(one)))) {
    for (const example of examplesOf(operation)) problems.push(await trial(operation, example, values, byKey));
  }
  assert.equal(problems.filter((problem) => problem !== null).join('\n'), '');
});

/** Somebody's browser, which keeps its session. */
class Browser {
  private session: { readonly cookie: string; readonly csrf: string } | null = null;

  readonly ask: Ask = async ({ method, path, body }) => {
    const headers = {
      origin: world.origin,
      ...(this.session && { cookie: this.session.cookie, 'x-csrf-token': this.session.csrf }),
    };
    const answer = await send(world.url, method, path, { headers, ...(body !== undefined && { body }) });
    const cookie = answer.headers.get('set-cookie')?.split(';', 1)[0];
    if (cookie && answer.body?.csrf_token) this.session = { cookie, csrf: answer.body.csrf_token };
    return answer;
  };
}

test('every example of what a person does in the account area is answered with success', async () => {
  const [ada, bo] = [new Browser(), new Browser()];
  const problems: (string | null)[] = [];
  let answered: Answer | undefined;
  /** Sends one example, as that browser. Returns the answer's body. */
  const does = async (by: Browser, operationId: string, values: Values = {}, which = 0) => {
    const operation = operations.find((one) => one.schema.operationId === operationId)!;
    const example = examplesOf(operation)[which];
    const ask: Ask = async (request) => (answered = await by.ask(request));
    problems.push(await trial(operation, example, values, ask));
    return answered!.body;
  };
  await does(ada, 'setUpAccount', { token: await createOwnerLink(world.store.database, cryptography.tokens) });
  await does(ada, 'signIn');
  const { url } = await does(ada, 'createInvitation');
  const token = url.split('#token=')[1];
  await does(bo, 'readAccountLink', { token });
  // The example's address has an account by now, and the invitation is for another.
  const renamed: Browser['ask'] = (request) =>
    bo.ask({ ...request, body: { ...(request.body as object), email: 'bo@example.com' } });
  await does({ ask: renamed } as Browser, 'acceptInvitation', { token });
  const anew: Browser['ask'] = (request) =>
    new Browser().ask({ ...request, body: { ...(request.body as object), email: 'cy@example.com' } });
  await does({ ask: anew } as Browser, 'register');
  const [person] = (await does(ada, 'listPeople')).data;
  await does(ada, 'setSpendLimit', { id: person.id });
  await does(ada, 'createApiKey');
  const [device, other] = [await does(ada, 'createDeviceAuthorization'), await does(ada, 'createDeviceAuthorization')];
  await does(ada, 'readDeviceRequest', device);
  await does(ada, 'decideDeviceRequest', device);
  await does(ada, 'createToken', device);
  await does(ada, 'decideDeviceRequest', other, 1);
  const client = await does(ada, 'registerOAuthClient');
  await does(ada, 'readAuthorization', client);
  await does(ada, 'decideAuthorization', client, 1);
  const { redirect_to: answer } = await does(ada, 'decideAuthorization', client);
  const authorization_code = new URL(answer).searchParams.get('code')!;
  const exchange = { ...client, authorization_code, code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk' };
  const first = await does(ada, 'createToken', exchange, 1);
  const second = await does(ada, 'createToken', { ...client, refresh_token: first.refresh_token }, 2);
  const [grant] = (await does(ada, 'listGrants')).data;
  await does(ada, 'revokeGrant', { id: grant.id });
  await does(ada, 'revokeToken', { ...client, refresh_token: second.refresh_token });
  const { secret } = await does(ada, 'beginTotp');
  const { recovery_codes: codes } = await does(ada, 'confirmTotp', { code: totp(secret) });
  await does(ada, 'signIn', { code: codes[0] }, 1);
  await does(ada, 'removeTotp', { code: codes[1] });
  await does(ada, 'changePassword');
  const reset = await createResetLink(world.store.database, cryptography.tokens, 'ada@example.com', {
    removesTotp: false,
  });
  await does(ada, 'resetPassword', { token: reset });
  await does(ada, 'signIn');
  await does(ada, 'signOut');
  assert.equal(problems.filter((problem) => problem !== null).join('\n'), '');
});

test('every operation with a body has an example, and it was sent', () => {
  for (const operation of operations.filter((one) => one.schema.requestBody !== undefined)) {
    assert.ok(examplesOf(operation).length > 0 && sent.has(operation.schema.operationId), operation.schema.operationId);
  }
});
