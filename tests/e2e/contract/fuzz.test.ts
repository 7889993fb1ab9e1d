/**
 * Requests made at random from the OpenAPI document, with fixed seeds: none is answered with a 5xx, and no reply breaks the
 * schema that is declared for its status. The long form makes 20,000 of them.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { TestContext } from 'node:test';
import { formOf } from '@lodge/testkit/forms';
import { openWorld, send } from '../api/world.ts';
import type { Call, World } from '../api/world.ts';
import { operationsOf } from './document.ts';
import type { Operation, Schema } from './document.ts';
import { Generator } from './generator.ts';
import { Replies } from './replies.ts';
import { Client } from './states.ts';

const requests = formOf({ short: 3_000, long: 20_000 });
const lanes = 8;

let world: World;
let document: Schema;
let operations: Operation[];
let replies: Replies;
const agents: string[] = [];
const faults: string[] = [];

before(async () => {
  world = await openWorld({
    withGuest: true,
    // A guest's daemon packs no whole disk for an export.
    runtime: { data: { folders: ['/workspace'], except: [] } },
    createWaitMs: 0,
    lifecycleWaitMs: 100,
    onError: (fields, message) => faults.push(`${message} ${JSON.stringify(fields)}`),
  });
  const client = new Client(world);
  // They outlive what is asked of them: deletes are aimed elsewhere.
  for (const status of ['running', 'running', 'paused', 'stopped']) {
    const { id } = (await client.call('POST', '/agents', { name: status, size: 'small' })).body as { id: string };
    await client.call('GET', `/agents/${id}?wait_for=running&timeout=20`);
    if (status === 'paused' || status === 'stopped')
      await client.call('POST', `/agents/${id}/${status === 'paused' ? 'pause' : 'stop'}`);
    agents.push(id);
  }
  document = (await client.call('GET', '/openapi.json')).body;
  // The key of all these requests would end with one of them.
  operations = operationsOf(document).filter(({ schema }) => schema.operationId !== 'revokeCurrentApiKey');
  replies = new Replies(document);
});
after(() => world?.close());

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** One request: method and path with query, and what goes with them. */
function requestOf(
  random: Generator,
  { method, path, schema }: Operation,
): { readonly target: string; readonly call: Call } {
  const headers: Record<string, string> = {};
  const query = new URLSearchParams();
  let target = path;
  for (const parameter of schema.parameters ?? []) {
    const value = random.value(parameter.schema);
    const text = textOf(value);
    if (parameter.in === 'path') {
      // One of fifty deletes would hit an agent, and the agents must stay.
      const known = method !== 'DELETE' && random.chance(0.8) ? random.pick(agents) : text;
      target = target.replace(`{${parameter.name}}`, encodeURIComponent(known.isWellFormed() ? known : 'x') || '%20');
    } else if (!random.chance(0.3)) continue;
    else if (parameter.in === 'query') {
      if (parameter.name === 'follow' || parameter.name === 'wait_for') continue;
      if (parameter.style === 'deepObject') query.append(`${parameter.name}[k]`, text);
      else query.append(parameter.name, text);
    } else if (/^[\x20-\x7e]*$/.test(text)) headers[parameter.name] = text;
  }
  if (random.chance(0.02)) query.append(random.pick(['x', 'limit', '__proto__', 'cursor']), textOf(random.odd()));
  const content = schema.requestBody?.content['application/json']?.schema;
  const body = content === undefined ? undefined : random.value(content);
  if (content !== undefined && typeof body === 'object' && body !== null && 'model' in body && random.chance(0.7)) {
    if (path === '/v1/chat/completions') Object.assign(body, { model: random.pick(agents) });
  }
  const key = random.chance(0.95) ? world.key : random.pick([null, 'x', `${world.key}x`, '\u00e9']);
  const hasBody = body !== undefined && random.chance(0.97);
  const wait = query.size === 0 && /\/(start|stop|pause|resume|restart)$/.test(path) ? '?wait=false' : '';
  return {
    target: `${target}${query.size > 0 ? `?${query.toString()}` : wait}`,
    call: { key, headers, ...(hasBody && { body: typeof body === 'string' ? JSON.stringify(body) : body }) },
  };
}

test(`${requests} requests made from the document: no 5xx, and every reply is of its declared schema`, async (t: TestContext) => {
  const problems: string[] = [];
  const byStatus = new Map<number, number>();
  const lane = async (seed: number): Promise<void> => {
    const random = new Generator(document, seed);
    for (let i = 0; i < requests / lanes && problems.length < 20; i += 1) {
      const operation = random.pick(operations);
      const { target, call } = requestOf(random, operation);
      const answer = await send(world.url, operation.method, target, call).catch((error: unknown) => error as Error);
      if (answer instanceof Error) {
        // A request that fetch itself refuses is none.
        if (answer.cause !== undefined)
          problems.push(`seed ${seed} #${i} ${operation.method} ${target}: ${answer.message}`);
        continue;
      }
      byStatus.set(answer.status, (byStatus.get(answer.status) ?? 0) + 1);
      const problem = replies.problem(operation, answer);
      if (problem)
        problems.push(
          `seed ${seed} #${i} ${operation.method} ${target} ${JSON.stringify(call.body)?.slice(0, 300)}: ${answer.status} ${problem}`,
        );
    }
  };
  await Promise.all(Array.from({ length: lanes }, (_, i) => lane(1000 + i)));
  const counts = [...byStatus].toSorted(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
  t.diagnostic(`${[...byStatus.values()].reduce((sum, count) => sum + count, 0)} replies; ${counts.join(', ')}`);
  assert.deepEqual(problems, []);
  assert.deepEqual(faults, []);
  assert.ok((byStatus.get(200) ?? 0) > requests / 20 && (byStatus.get(201) ?? 0) + (byStatus.get(202) ?? 0) > 10);
});
