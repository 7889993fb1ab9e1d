/**
 * Every operation of the OpenAPI document, asked with each value that its schema has a bound or a word for, and with values
 * beside them: no reply is a 5xx, and none differs from the document. Random requests are in `tests/e2e/contract/fuzz.test.ts`.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openWorld, send } from '../../e2e/api/world.ts';
import type { World } from '../../e2e/api/world.ts';
import { ownerOf } from '../../e2e/people.ts';
import type { Person } from '../../e2e/people.ts';
import { runSchemathesis } from './schemathesis.ts';
import type { Run } from './schemathesis.ts';

/** Streams do not end by themselves, and long polls only late: their parameters are fixed. */
const shortReplies: NonNullable<Run['operations']> = {
  'GET /v1/agents/{id}': { 'query.timeout': '1' },
  'GET /v1/agents/{id}/logs': { 'query.follow': 'false' },
  'GET /v1/events': { 'query.follow': 'false' },
};
const asKey = ['--exclude-path-regex', '^/v1/account'];

let world: World;
let owner: Person;
const faults: string[] = [];

before(async () => {
  world = await openWorld({
    withGuest: true,
    kinds: ['runtime_a', 'runtime_b'],
    createWaitMs: 5000,
    lifecycleWaitMs: 3000,
    onError: (fields, message) => faults.push(`${message} ${JSON.stringify(fields)}`),
  });
  owner = await ownerOf(world);
});
after(() => world?.close());

async function made(path: string, body: object, method = 'POST'): Promise<Record<string, unknown>> {
  const answer = await send(world.url, method, `/v1${path}`, { key: world.key, body });
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
  return answer.body as Record<string, unknown>;
}

/** One of each resource, by the names of the paths' parameters. */
async function oneOfEach(name: string): Promise<Record<string, string>> {
  const { id } = await made('/agents', { name, size: 'small' });
  const agent = `/agents/${String(id)}`;
  const webhook = await made('/webhooks', { url: 'https://example.com/hook', events: ['agent.*'] });
  const hook = await made(`${agent}/hooks`, { name });
  const schedule = await made(`${agent}/schedules`, { name, every: '1h', prompt: 'x' });
  const text = (value: unknown): string => String(value);
  return {
    'path.id': text(id),
    'path.webhook': text(webhook['id']),
    'path.hook': text(hook['id']),
    'path.schedule': text(schedule['id']),
  };
}

async function run(part: Omit<Run, 'url'>): Promise<void> {
  faults.length = 0;
  const { problems, tested, output } = await runSchemathesis({ url: world.url, ...part });
  assert.equal(problems, null, `${problems}\n${faults.join('\n').slice(0, 4_000)}`);
  assert.ok(tested > 0, output);
  assert.deepEqual(faults, []);
}

test('with ids that the document allows', async () => {
  await run({ headers: { 'X-API-Key': world.key }, options: asKey, parameters: {}, operations: shortReplies });
});

test('with ids of what is there', async () => {
  const [kept, spare] = [await oneOfEach('kept'), await oneOfEach('spare')];
  const deletes = ['', '/schedules/{schedule}', '/hooks/{hook}'].map((path) => `DELETE /v1/agents/{id}${path}`);
  await run({
    headers: { 'X-API-Key': world.key },
    options: asKey,
    parameters: kept,
    // Deleted objects differ from those that the other operations are about.
    operations: {
      ...shortReplies,
      ...Object.fromEntries([...deletes, 'DELETE /v1/webhooks/{webhook}'].map((name) => [name, spare])),
    },
  });
});

test('as a person, in the account area', async () => {
  const options = ['--include-path-regex', '^/v1/account', '--exclude-path', '/v1/account/sign-out'];
  await run({ headers: owner.headers, options, parameters: {} });
});

test('signing out', async () => {
  await run({ headers: owner.headers, options: ['--include-path', '/v1/account/sign-out'], parameters: {} });
});
