/**
 * A third runtime: this folder, and lines in two files of the product (`edits.ts`). A real one has an image, too, which is a folder,
 * and a third edited file: its choice in the dashboard (docs/contributing/adding-a-runtime.md).
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startToyGateway } from '../../../../packages/testkit/src/plane/toy-runtime/toy-gateway.ts';
import type { World } from '../../api/world.ts';
import type { Client } from '../../contract/states.ts';
import { edit } from '../edits.ts';
import { runtimeEdits } from './edits.ts';
import { gateway } from './parrot.ts';

edit(runtimeEdits);
const { openWorld } = await import('../../api/world.ts');
const { Client: ApiClient } = await import('../../contract/states.ts');
const { allRuntimes } = await import('@lodge/runtimes');

const toy = await startToyGateway();
gateway.port = toy.port;
let world: World;
let client: Client;

before(async () => {
  const [kind, runtime] = [...allRuntimes()].find(([, { name }]) => name === 'parrot')!;
  world = await openWorld({ kinds: [kind], runtime, settings: { LODGE_PREFIX_RUNTIME_C: 'bird' } });
  client = new ApiClient(world);
});
after(async () => {
  await world?.close();
  toy.close();
});

test('an agent of it is made, sleeps, wakes and answers', async () => {
  const id = await client.agent('running', { runtime_kind: 'parrot', model: 'claude-sonnet-5' });
  const { body } = await client.call('GET', `/agents/${id}`);
  assert.equal(body.runtime_kind, 'runtime_c');
  assert.ok(body.url.startsWith(`http://bird-${id}.`), body.url);
  for (const verb of ['stop', 'start']) assert.equal((await client.call('POST', `/agents/${id}/${verb}`)).status, 200);
  const answer = await client.call('POST', `/agents/${id}/chat/completions`, ask('Hello'));
  assert.equal(answer.status, 200, answer.text);
  assert.match(answer.text, /"toy:claude-sonnet-5 "[^]*"Hello"/);
  const busy = await client.call('POST', `/agents/${id}/chat/completions`, ask('busy'));
  assert.deepEqual([busy.body.error.code, busy.headers.get('retry-after')], ['rate_limit_exceeded', '7'], busy.text);
});

test('its abilities are those of its row, in refusals and in the document', async () => {
  const id = await client.agent('running', { runtime_kind: 'runtime_c', model: 'claude-sonnet-5', dashboard: true });
  assert.deepEqual((await client.call('GET', `/agents/${id}/members`)).body.data, []);
  const body = { name: 'x', runtime_kind: 'runtime_c', model: 'anthropic/claude-sonnet-5' };
  const prefixed = await client.call('POST', '/agents', body);
  assert.match(prefixed.body.error.message, /^model of a runtime_c agent is a bare <model_name>/);
  const { openApiJson } = await import('../../../../apps/server/src/http/openapi/document.ts');
  assert.match(await openApiJson(), /`hermes` for `runtime_b`, `parrot` for `runtime_c`/);
});

const ask = (content: string) => ({ stream: true, messages: [{ role: 'user', content }] });
