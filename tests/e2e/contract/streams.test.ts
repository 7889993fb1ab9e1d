/** Streams against the document: their content type is declared, and each event is of its schema. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openWorld } from '../api/world.ts';
import type { World } from '../api/world.ts';
import { operationsOf } from './document.ts';
import type { Operation } from './document.ts';
import { Replies, eventsOf } from './replies.ts';
import { Client } from './states.ts';

let world: World;
let id: string;
let operations: Operation[];
let replies: Replies;
before(async () => {
  world = await openWorld({ withGuest: true });
  const client = new Client(world);
  id = await client.agent('running');
  await client.call('PUT', `/agents/${id}/channels/whatsapp`, { enabled: false });
  const document = (await client.call('GET', '/openapi.json')).body;
  operations = operationsOf(document);
  replies = new Replies(document);
});
after(() => world?.close());

const chat = { messages: [{ role: 'user', content: 'x' }], stream: true };
/** Method, path, body, and the line after which the test reads no further. */
const streams: readonly (readonly [string, string, object | undefined, RegExp])[] = [
  ['POST', '/v1/agents/{id}/chat/completions', chat, /^data: \[DONE\]/m],
  ['POST', '/v1/chat/completions', { ...chat, model: ':id' }, /^data: \[DONE\]/m],
  ['POST', '/v1/agents/{id}/responses', { input: 'x', stream: true }, /^event: response\.completed/m],
  ['POST', '/v1/responses', { input: 'x', stream: true, model: ':id' }, /^event: response\.completed/m],
  ['POST', '/v1/agents/{id}/exec', { command: 'echo out; echo err >&2', stream: true }, /^event: exit/m],
  ['GET', '/v1/agents/{id}/logs?follow=true', undefined, /^data: /m],
  ['GET', '/v1/events?follow=true', undefined, /^data: /m],
  ['GET', '/v1/agents/{id}/channels/whatsapp/pair', undefined, /^event: pairing/m],
];

for (const [method, target, body, last] of streams) {
  test(`the stream of ${method} ${target} is as the document says`, async () => {
    const [path] = target.split('?');
    const operation = operations.find((one) => one.method === method && one.path === path);
    assert.ok(operation);
    const connection = new AbortController();
    const response = await fetch(`${world.url}${target.replace('{id}', id)}`, {
      method,
      signal: connection.signal,
      headers: { 'x-api-key': world.key, accept: 'text/event-stream', 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body).replace(':id', id) }),
    });
    let text = '';
    const decoder = new TextDecoder();
    for await (const bytes of response.body!) {
      text += decoder.decode(bytes, { stream: true });
      if (last.test(text) && text.endsWith('\n\n')) break;
    }
    connection.abort();
    const { status, headers } = response;
    assert.deepEqual([status, headers.get('content-type')], [200, 'text/event-stream; charset=utf-8'], text);
    assert.equal(replies.problem(operation, { status, headers, text, body: null }), null);
    assert.ok(eventsOf(text).length > 0, text);
    const broken = text.replaceAll(/^data: \{.*$/gm, 'data: {}');
    const problem = replies.problem(operation, { status, headers, text: broken, body: null });
    assert.match(problem ?? '', /not of its schema/, 'an event that is wrong would be told');
  });
}
