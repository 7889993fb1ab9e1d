/**
 * Asks every operation of the OpenAPI document with values at and beyond each bound of its schemas. The server refuses what the
 * document refuses, names the field, and changes nothing. It accepts everything else, except what a named rule refuses.
 *
 * The engine's loops do not run, so no request gets as far as a machine: the one agent stays in provisioning.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openWorld } from '../api/world.ts';
import type { Answer, World } from '../api/world.ts';
import { contents } from '../contents.ts';
import { ownerOf } from '../people.ts';
import type { Person } from '../people.ts';
import { Boundaries } from './boundaries.ts';
import { disagreement, nameOf, requestsOf, targetOf } from './boundary-run.ts';
import type { Asked } from './boundary-run.ts';
import { operationsOf } from './document.ts';
import type { Operation } from './document.ts';
import { namedRules } from './named-rules.ts';
import { Replies } from './replies.ts';
import { Client } from './states.ts';

const lanesOfWrong = 8;
const maxWaitMs = 60_000;

let world: World;
let owner: Person;
let operations: Operation[];
let replies: Replies;
let boundaries: Boundaries;
let known: Readonly<Record<string, string>>;

before(async () => {
  world = await openWorld({ loops: false, maxAgents: 1, createWaitMs: 0, lifecycleWaitMs: 0 });
  owner = await ownerOf(world);
  const client = new Client(world);
  const made = async (method: string, path: string, body: object): Promise<string> => {
    const answer = await client.call(method, path, body);
    assert.ok(answer.status < 300, answer.text);
    return String(answer.body.id);
  };
  const id = await made('POST', '/agents', { name: 'The one' });
  const agent = `/agents/${id}`;
  await made('POST', `${agent}/members`, { name: 'scout' });
  await made('PUT', `${agent}/connections/c`, { kind: 'mcp', url: 'https://mcp.example.com' });
  await made('PUT', `${agent}/channels/whatsapp`, {});
  known = {
    id,
    member: 'scout',
    name: 'c',
    channel: 'whatsapp',
    webhook: await made('POST', '/webhooks', { url: 'https://example.com/', events: ['*'], enabled: false }),
    hook: await made('POST', `${agent}/hooks`, { name: 'H' }),
    schedule: await made('POST', `${agent}/schedules`, { name: 'S', every: '1h', prompt: 'x' }),
    snapshot: 'none',
    skill: 'none',
    confirmation: 'none',
    port: '3000',
    path: 'a',
    upload: '0123456789abcdef',
  };
  const document = (await client.call('GET', '/openapi.json')).body;
  operations = operationsOf(document);
  replies = new Replies(document);
  boundaries = new Boundaries(document);
});
after(() => world?.close());

async function answerTo(asked: Asked): Promise<string | null> {
  const { operation, headers, body } = asked;
  const ofPerson = operation.path.startsWith('/v1/account/');
  const signal = AbortSignal.timeout(maxWaitMs);
  const response = await fetch(`${world.url}${targetOf(asked, known)}`, {
    method: operation.method,
    signal,
    headers: {
      ...(ofPerson ? owner.headers : { 'x-api-key': world.key }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const answer = await answerOf(response);
  const { code, message } = errorOf(answer);
  const outcome = { status: answer.status, code, message };
  const problem = disagreement(asked, outcome, used) ?? replies.problem(operation, answer);
  if (problem === null) return null;
  const sent = JSON.stringify([headers, body]).slice(0, 200);
  return `${operation.method} ${targetOf(asked, known).slice(0, 200)} ${sent}: ${problem}: ${answer.text.slice(0, 200)}`;
}

/** The error of a reply, in the contract's envelope or in the words of OAuth. */
function errorOf({ body }: Answer): { readonly code: string; readonly message: string } {
  const { error, error_description: text } = body ?? {};
  if (typeof error === 'string') return { code: error, message: String(text) };
  return { code: '', message: '', ...error };
}

/** Reads the whole answer, but only the head of a stream, which has no end. */
async function answerOf(response: Response): Promise<Answer> {
  const { status, headers } = response;
  const type = headers.get('content-type') ?? '';
  if (type.startsWith('text/event-stream')) {
    await response.body!.cancel();
    return { status, headers, text: '', body: null };
  }
  const text = await response.text();
  return { status, headers, text, body: type.startsWith('application/json') && text !== '' ? JSON.parse(text) : null };
}

const used = new Set<number>();

async function problemsOf(requests: readonly Asked[], lanes: number): Promise<string[]> {
  const problems: string[] = [];
  const left = [...requests];
  const lane = async (): Promise<void> => {
    for (let asked = left.pop(); asked !== undefined; asked = left.pop()) {
      const problem = await answerTo(asked).catch(
        (error: unknown) => `${nameOf(asked.operation)} ${asked.query}: ${String(error)}`,
      );
      if (problem !== null) problems.push(problem);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return problems;
}

test('the document and the server refuse the same', async (t) => {
  const requests = operations.flatMap((operation) => requestsOf(operation, boundaries, replies));
  const wrong = requests.filter(({ isGood }) => !isGood);
  // One after another, since each may find what the one before has left.
  const good = requests.filter(({ isGood }) => isGood);
  const before = await contents(world.sql);
  const problems = await problemsOf(wrong, lanesOfWrong);
  const afterwards = await contents(world.sql);
  problems.push(...(await problemsOf(good, 1)));
  const asked = new Set(requests.map(({ operation }) => nameOf(operation)));
  t.diagnostic(`${wrong.length} requests to refuse and ${good.length} to accept, of ${asked.size} operations`);
  assert.equal(problems.join('\n'), '');
  assert.equal(afterwards, before, 'what is refused changes nothing');
  const unused = namedRules.filter((_rule, index) => !used.has(index));
  assert.deepEqual(unused, [], 'each named rule has refused something');
});
