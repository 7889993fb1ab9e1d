/** The table of tests/e2e/bad-input.test.ts. */
import { channelRequests } from './bad-channel-requests.ts';
import { scheduleRequests } from './bad-schedule-requests.ts';
import { forkRequests } from './bad-fork-requests.ts';
import { portableRequests } from './bad-portable-requests.ts';
import { snapshotRequests } from './bad-snapshot-requests.ts';
import { hookRequests } from './bad-hook-requests.ts';
import { confirmationRequests } from './bad-confirmation-requests.ts';
import { skillRequests } from './bad-skill-requests.ts';
import { oauthRequests } from './bad-oauth-requests.ts';
import { mcpRequests } from './bad-mcp-requests.ts';
import { lifecycleRequests } from './bad-lifecycle-requests.ts';
import {
  chat,
  get,
  invalid,
  invalidJson,
  messages,
  noAgent,
  noRoute,
  noScope,
  notRunning,
  tooLarge,
  unauthenticated,
  wrongMedia,
  wrongMethod,
} from './bad-request.ts';
import type { BadRequest, Rest } from './bad-request.ts';

/** A create with a good name and these fields, which is wrong at `names`. */
const create = (title: string, fields: object, names: BadRequest['names']): BadRequest => ({
  title: `create with ${title}`,
  path: '/v1/agents',
  json: { name: 'Support bot', ...fields },
  ...invalid,
  ...(names !== undefined && { names }),
});

const badName = (title: string, json: object): BadRequest => ({
  title: `create with ${title}`,
  path: '/v1/agents',
  json,
  ...invalid,
  names: 'name is required',
});

const rawCreate = (
  title: string,
  body: string | Uint8Array,
  answer: Omit<BadRequest, 'title' | 'path'>,
): BadRequest => ({
  title: `create with ${title}`,
  path: '/v1/agents',
  body,
  ...answer,
});

const key = { provider: 'anthropic', api_key: 'sk-secret-1234' };
const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`key${i}`, 'x']));

const names: BadRequest[] = [
  { title: 'create without a body', path: '/v1/agents', ...invalid, names: 'name is required' },
  badName('no name', {}),
  badName('a null name', { name: null }),
  badName('a number as name', { name: 5 }),
  badName('an array as name', { name: ['x'] }),
  badName('an object as name', { name: { first: 'x' } }),
  badName('an empty name', { name: '' }),
  badName('a blank name', { name: ' \t\n ' }),
  create('a name of 101 characters', { name: 'é'.repeat(101) }, ['name', '100']),
  rawCreate('half a surrogate pair in its name', '{"name":"a\\ud800b"}', { ...invalid, names: 'name' }),
];

const fields: BadRequest[] = [
  create('a field that only a reply has', { status: 'running' }, 'status'),
  create('a field with an odd name', { 'a\nb "c"': 1 }, 'a\\nb \\"c\\"'),
  create('a bare model name', { model: 'gpt-5' }, 'model'),
  create('a model without a provider', { model: '/gpt-5' }, 'model'),
  create('a model without a name', { model: 'openai/' }, 'model'),
  create('a model with spaces', { model: 'openai/gpt 5' }, 'model'),
  create('an unknown provider in its model', { model: 'nobody/gpt-5' }, ['model', 'anthropic']),
  create('2,001 characters of description', { description: 'x'.repeat(2001) }, ['description', '2000']),
  create('an unknown runtime', { runtime_kind: 'runtime_c' }, ['runtime_kind', 'runtime_a']),
  create('a runtime that is not offered', { runtime_kind: 'runtime_b', model: 'gpt-5' }, 'runtime_kind'),
  create('the other name of a runtime that is not offered', { runtime_kind: 'hermes' }, 'runtime_kind'),
  create('an unknown size', { size: 'huge' }, ['size', 'medium']),
  create('two sizes', { size: 'small', machine_size: 'large' }, ['size', 'machine_size']),
  create('half of what a channel needs', { channels: { slack: { botToken: 'xoxb-1' } } }, 'channels.slack.appToken'),
  create('a secret of another channel', { channels: { whatsapp: { botToken: 'x' } } }, 'channels.whatsapp.botToken'),
  create('a secret with a space', { channels: { discord: { botToken: 'a b' } } }, 'channels.discord.botToken'),
  create('both names of one channel', { channels: { gmail: {}, email: {} } }, ['channels takes', 'gmail and email']),
  create('a token that the platform refuses', { channels: { discord: { botToken: 'bad:x' } } }, [
    'channels.discord.botToken',
    'not known',
  ]),
  create('an unknown egress mode', { egress: { mode: 'open' } }, ['egress.mode', 'allowlist']),
  create('an allow list that nobody reads', { egress: { mode: 'none', allow: ['a.example'] } }, 'egress.allow'),
  create('an IPv6 address to reach', { egress: { mode: 'allowlist', allow: ['a.example', '::1'] } }, 'egress.allow[1]'),
  create('a model without its provider', { models: ['gpt-5'] }, ['models[0]', '<provider>/<model_name>']),
  create('a spend limit without a limit', { spend_limit: { action: 'block' } }, ['spend_limit', 'daily_usd']),
  create(
    'a spend limit of nulls',
    { spend_limit: { daily_usd: null, monthly_usd: null, action: 'block' } },
    'spend_limit',
  ),
  create('nothing as daily_usd', { spend_limit: { daily_usd: '0.00', action: 'block' } }, 'spend_limit.daily_usd'),
  create(
    'less than nothing as monthly_usd',
    { spend_limit: { monthly_usd: '-1', action: 'block' } },
    'spend_limit.monthly_usd',
  ),
  create(
    'less than a micro-dollar',
    { spend_limit: { daily_usd: '0.0000001', action: 'block' } },
    'spend_limit.daily_usd',
  ),
  create('an exponent in daily_usd', { spend_limit: { daily_usd: '1e3', action: 'block' } }, 'spend_limit.daily_usd'),
  create('a billion a day', { spend_limit: { daily_usd: '1000000000', action: 'block' } }, 'spend_limit.daily_usd'),
  create(
    'an unknown field of a spend limit',
    { spend_limit: { weekly_usd: '5', action: 'block' } },
    'spend_limit.weekly_usd',
  ),
  create('a dashboard for runtime_a', { dashboard: true }, ['dashboard', 'runtime_b']),
  create('a browser without room', { browser: true, size: 'small' }, ['browser', 'medium']),
];

const nested: BadRequest[] = [
  create('a word among llm_keys', { llm_keys: [key, 'sk-secret'] }, 'llm_keys[1]'),
  create('a secret with a line break', { llm_keys: [{ ...key, api_key: 'sk-secret\r\nX: y' }] }, 'llm_keys[0].api_key'),
  create('a key for an unknown provider', { llm_keys: [{ ...key, provider: 'nobody' }] }, [
    'llm_keys[0].provider',
    'anthropic',
  ]),
  create('two keys for one provider', { llm_keys: [key, key] }, 'llm_keys[1].provider'),
  create('21 keys', { llm_keys: Array.from({ length: 21 }, () => key) }, ['llm_keys', '20']),
  create('an unknown keep_awake', { lifecycle: { keep_awake: 'never' } }, ['lifecycle.keep_awake', 'always']),
  create('a number in metadata', { metadata: { team: 5 } }, 'metadata.team'),
  create('null in metadata', { metadata: { team: null } }, 'metadata.team'),
  create('51 pairs of metadata', { metadata: many(51) }, ['metadata', '50']),
  create('an endless key in metadata', { metadata: { ['k'.repeat(65)]: 'x' } }, 'metadata'),
  create('an endless value in metadata', { metadata: { team: 'x'.repeat(501) } }, 'metadata.team'),
  create('NUL in metadata', { metadata: { team: '\0' } }, 'metadata.team'),
  create('a label in capitals', { labels: { Team: 'x' } }, ['labels', 'lower case']),
  create('a label that ends with a dot', { labels: { 'team.': 'x' } }, 'labels'),
  create('a label without a name', { labels: { '': 'x' } }, 'labels'),
  create('an endless key of a label', { labels: { ['k'.repeat(64)]: 'x' } }, 'labels'),
  create('an endless value of a label', { labels: { team: 'x'.repeat(64) } }, 'labels.team'),
  create('null as a label', { labels: { team: null } }, 'labels.team'),
  create('51 labels', { labels: many(51) }, ['labels', '50']),
  create('NUL in a key of metadata', { metadata: { 'a\0': 'x' } }, 'metadata'),
];

const endless = (): ReadableStream =>
  new ReadableStream({
    start(controller) {
      for (let i = 0; i < 20; i += 1) controller.enqueue(new TextEncoder().encode(' '.repeat(64 * 1024)));
      controller.close();
    },
  });

const bodies: BadRequest[] = [
  rawCreate('an array', '[{"name":"x"}]', { ...invalid, names: 'object' }),
  rawCreate('a string', '"name"', { ...invalid, names: 'object' }),
  rawCreate('null', 'null', { ...invalid, names: 'object' }),
  rawCreate('half a body', '{"name":"x"', invalidJson),
  rawCreate('a trailing comma', '{"name":"x",}', invalidJson),
  rawCreate('a bare word', '{"name":NaN}', invalidJson),
  rawCreate('single quotes', "{'name':'x'}", invalidJson),
  rawCreate('two bodies', '{"name":"x"}{"name":"y"}', invalidJson),
  rawCreate('bytes that are no UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]), invalidJson),
  rawCreate('brackets without end', '['.repeat(100_000), invalidJson),
  rawCreate('deep nesting', `{"name":"x","metadata":${'{"a":'.repeat(100)}1${'}'.repeat(101)}`, invalidJson),
  rawCreate('a field given twice', '{"name":"x","size":"small","size":"large"}', { ...invalid, names: 'size' }),
  rawCreate('a nested field given twice', '{"name":"x","metadata":{"a":"1","\\u0061":"2"}}', {
    ...invalid,
    names: '"a"',
  }),
  rawCreate('__proto__', '{"name":"x","__proto__":{"size":"large"}}', { ...invalid, names: '__proto__' }),
  rawCreate('__proto__ in metadata', '{"name":"x","metadata":{"__proto__":"y"}}', { ...invalid, names: '__proto__' }),
  rawCreate('constructor', '{"name":"x","constructor":{"prototype":{}}}', { ...invalid, names: 'constructor' }),
  rawCreate('text/plain', '{"name":"x"}', { ...wrongMedia, headers: { 'content-type': 'text/plain' } }),
  rawCreate('a form', 'name=x', { ...wrongMedia, headers: { 'content-type': 'application/x-www-form-urlencoded' } }),
  rawCreate('a media type that is none', '{"name":"x"}', { ...wrongMedia, headers: { 'content-type': 'json' } }),
  rawCreate('no media type', new Uint8Array([0x7b, 0x7d]), { ...wrongMedia, headers: { 'content-type': '' } }),
  rawCreate('an encoding', '{"name":"x"}', { ...wrongMedia, headers: { 'content-encoding': 'gzip' } }),
  rawCreate('more than 1 MiB', `{"name":"${'x'.repeat(1024 * 1024)}"}`, tooLarge),
  { title: 'create with more than 1 MiB in chunks', path: '/v1/agents', body: endless(), ...tooLarge },
  {
    ...create('everything right, beyond the quota', {}, 'quota'),
    status: 429,
    type: 'rate_limit_error',
    code: 'quota_exceeded',
  },
];

const bearer = (authorization: string): Rest => ({ key: null, headers: { authorization } });
const access: BadRequest[] = [
  get('no key', '/v1/agents', { ...unauthenticated, code: 'missing_api_key', key: null }),
  get('an unknown key', '/v1/agents', { ...unauthenticated, code: 'invalid_api_key', key: 'unknown' }),
  get('a revoked key', '/v1/agents', { ...unauthenticated, code: 'revoked_api_key', key: 'revoked' }),
  get('an expired key', '/v1/agents', { ...unauthenticated, code: 'expired_api_key', key: 'expired' }),
  get('a bearer token that is no key', '/v1/agents', {
    ...unauthenticated,
    code: 'invalid_api_key',
    ...bearer('Bearer x'),
  }),
  get('an empty bearer token', '/v1/agents', { ...unauthenticated, code: 'missing_api_key', ...bearer('Bearer ') }),
  get('another scheme', '/v1/agents', { ...unauthenticated, code: 'missing_api_key', ...bearer('Basic eDp5') }),
  get('an endless key', '/v1/agents', {
    ...unauthenticated,
    code: 'invalid_api_key',
    ...bearer(`Bearer ${'x'.repeat(8000)}`),
  }),
  get('no key on an unknown path', '/v1/nowhere', { ...unauthenticated, code: 'missing_api_key', key: null }),
  {
    ...create('no key and a wrong body', { nmae: 1 }, undefined),
    ...unauthenticated,
    code: 'missing_api_key',
    key: null,
  },
  { ...create('a key that may only read', {}, 'agents:write'), ...noScope, key: 'read' },
  { ...create('a key that may only read, and a wrong body', { nmae: 1 }, 'agents:write'), ...noScope, key: 'read' },
  get('list with a key that may only write', '/v1/agents', { ...noScope, key: 'write', names: 'agents:read' }),
  get('read with a key that may only chat', '/v1/agents/{id}', { ...noScope, key: 'chat', names: 'agents:read' }),
  {
    title: 'delete with a key that may only write',
    method: 'DELETE',
    path: '/v1/agents/{id}',
    key: 'write',
    ...noScope,
    names: 'agents:delete',
  },
  {
    title: 'chat with a key that may only read',
    path: '/v1/chat/completions',
    key: 'read',
    json: {},
    ...noScope,
    names: 'agents:chat',
  },
];

const paths: BadRequest[] = [
  get('an unknown path', '/v1/nowhere', noRoute),
  get('the root', '/', noRoute),
  get('a path without its version', '/agents', noRoute),
  get('a path of another version', '/v2/agents', noRoute),
  get('a path beyond an agent', '/v1/agents/{id}/nowhere', noRoute),
  get('a doubled slash', '/v1//agents', noRoute),
  { title: 'PUT on the list', method: 'PUT', path: '/v1/agents', json: { name: 'x' }, ...wrongMethod },
  { title: 'DELETE on the list', method: 'DELETE', path: '/v1/agents', ...wrongMethod },
  { title: 'POST on an agent', path: '/v1/agents/{id}', json: {}, ...wrongMethod },
  { title: 'POST on models', path: '/v1/models', json: {}, ...wrongMethod },
  { title: 'PROPFIND on an agent', method: 'PROPFIND', path: '/v1/agents/{id}', ...wrongMethod },
  get('GET on chat', '/v1/chat/completions', wrongMethod),
  get('an id that nobody has', '/v1/agents/aaaaaaaaaaaa', noAgent),
  get('an id that cannot be', '/v1/agents/1', noAgent),
  get('an id in the wrong case', '/v1/agents/AAAAAAAAAAAA', noAgent),
  get('an endless id', `/v1/agents/${'a'.repeat(10_000)}`, noAgent),
  get('NUL in an id', '/v1/agents/aaaaaaaaaaa%00', noAgent),
  get('a path as id', '/v1/agents/..%2f..%2fetc', noAgent),
  get('SQL as id', "/v1/agents/' or 1=1 --", noAgent),
  get('bad percent-encoding in an id', '/v1/agents/%E0%A4%A', { ...invalid, names: 'percent' }),
  get('models of an unknown agent', '/v1/agents/aaaaaaaaaaaa/models', noAgent),
  { title: 'delete an unknown agent', method: 'DELETE', path: '/v1/agents/aaaaaaaaaaaa', ...noAgent },
];

const wrongQuery = (title: string, query: string, field: string): BadRequest =>
  get(title, `/v1/agents?${query}`, { ...invalid, names: field });
const queries: BadRequest[] = [
  wrongQuery('two limits', 'limit=1&limit=2', 'limit'),
  wrongQuery('a cursor that is not ours', 'cursor=abc', 'cursor'),
  wrongQuery('metadata without a key', 'metadata=x', 'metadata'),
  wrongQuery('a label without a key', 'label=x', 'label'),
  wrongQuery('a label in capitals', 'label[Team]=x', 'label'),
  wrongQuery('a key of no label', 'has_label=a b', 'has_label'),
  wrongQuery('bad percent-encoding in a filter', 'name=%E0%A4%A', 'percent'),
  get('a wait of no time', '/v1/agents/{id}?wait_for=running&timeout=0', { ...invalid, names: 'timeout' }),
  get('a timeout of nothing', '/v1/agents/{id}?timeout=5', { ...invalid, names: 'timeout' }),
];

const chats: BadRequest[] = [
  chat('no messages', {}, { ...invalid, names: 'messages is required' }),
  chat('a word among messages', { messages: [...messages, 'Hello'] }, { ...invalid, names: 'messages[1]' }),
  chat('half a body', undefined, { ...invalidJson, body: '{"messages":[' }),
  chat('an agent that does not run', { messages }, { ...notRunning, names: 'Agent is not running. Start it first.' }),
  chat('an agent that does not run, as a stream', { messages, stream: true }, notRunning),
  chat('an unknown agent', { messages }, { ...noAgent, path: '/v1/agents/aaaaaaaaaaaa/chat/completions' }),
  chat(
    'an unknown agent and no messages',
    {},
    { ...invalid, path: '/v1/agents/aaaaaaaaaaaa/chat/completions', names: 'messages' },
  ),
  chat(
    'no model to name the agent',
    { messages },
    { ...invalid, path: '/v1/chat/completions', names: 'model is required' },
  ),
  chat('a model that is no agent', { messages, model: 'gpt-5' }, { ...noAgent, path: '/v1/chat/completions' }),
];

const secret = { for: 'llm_key', value: 'sk-secret' };
const printOf = (title: string, values: unknown, names: BadRequest['names']): BadRequest => ({
  title: `fingerprints of ${title}`,
  path: '/v1/fingerprints',
  json: { values },
  ...invalid,
  ...(names !== undefined && { names }),
});
const prints: BadRequest[] = [
  printOf('nothing', [], 'values'),
  printOf(
    '101 secrets',
    Array.from({ length: 101 }, () => secret),
    ['values', '100'],
  ),
  printOf('an unknown kind', [{ ...secret, for: 'webhook' }], ['values[0].for', 'llm_key']),
  printOf('an endless secret', [{ ...secret, value: 'x'.repeat(4097) }], 'values[0].value'),
  printOf('NUL', [secret, { ...secret, value: '\0' }], 'values[1].value'),
  printOf('a number', [{ ...secret, value: 5 }], 'values[0].value'),
];

const upload = '/v1/agents/{id}/uploads/0123456789abcdef';
const part = (title: string, offset: string | null, names: string, path = upload): BadRequest => ({
  title: `a part of an upload ${title}`,
  method: 'PATCH',
  path,
  body: 'x',
  headers: offset === null ? {} : { 'upload-offset': offset },
  ...invalid,
  names,
});
const finish = (title: string, json: unknown, names: string): BadRequest => ({
  title: `the end of an upload ${title}`,
  path: upload,
  json,
  ...invalid,
  names,
});
const uploads: BadRequest[] = [
  part('that says not where', null, 'upload-offset'),
  part('before its beginning', '-1', 'upload-offset'),
  part('at a word', 'end', 'upload-offset'),
  part('with a short id', '0', 'upload', '/v1/agents/{id}/uploads/short'),
  part('with a path as id', '0', 'upload', '/v1/agents/{id}/uploads/..%2f..%2fetc%2fpasswd'),
  finish('without a path', { size: 1 }, 'path'),
  finish('at no path', { path: '', size: 1 }, 'path'),
  finish('outside', { path: '../etc/passwd', size: 1 }, 'path'),
  finish('of less than nothing', { path: 'a', size: -1 }, 'size'),
  finish('of 65 GiB', { path: 'a', size: 65 * 1024 ** 3 }, 'size'),
];

const tunnels: BadRequest[] = [
  get('a tunnel without a WebSocket', '/v1/agents/{id}/ports/3000/tunnel', { ...invalid, names: 'WebSocket' }),
  get('a tunnel to no port', '/v1/agents/{id}/ports/0/tunnel', { ...invalid, names: 'port' }),
  get('a tunnel to a word', '/v1/agents/{id}/ports/ssh/tunnel', { ...invalid, names: 'port' }),
  get("a tunnel to the service's daemon", '/v1/agents/{id}/ports/8080/tunnel', { ...invalid, names: 'port' }),
  get('a tunnel of nobody', '/v1/agents/aaaaaaaaaaaa/ports/3000/tunnel', noAgent),
];

export const badRequests: readonly BadRequest[] = [
  ...lifecycleRequests,
  ...channelRequests,
  ...scheduleRequests,
  ...snapshotRequests,
  ...forkRequests,
  ...portableRequests,
  ...hookRequests,
  ...confirmationRequests,
  ...skillRequests,
  ...mcpRequests,
  ...oauthRequests,
  ...names,
  ...fields,
  ...nested,
  ...bodies,
  ...access,
  ...paths,
  ...queries,
  ...chats,
  ...prints,
  ...uploads,
  ...tunnels,
];
