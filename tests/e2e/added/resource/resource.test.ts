/**
 * A further resource: this folder, and lines in three files of the product (`edits.ts`). A real one has a fourth, the list of
 * guides (docs/contributing/adding-a-resource.md).
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import type { World } from '../../api/world.ts';
import type { Client } from '../../contract/states.ts';
import { edit } from '../edits.ts';
import { resourceEdits } from './edits.ts';

edit(resourceEdits);
const { openWorld } = await import('../../api/world.ts');
const { Client: ApiClient } = await import('../../contract/states.ts');

let world: World;
let client: Client;
let agent: string;
let path: string;

before(async () => {
  world = await openWorld();
  await world.sql.query(await readFile(new URL('migration.sql', import.meta.url), 'utf8'));
  client = new ApiClient(world);
  agent = await client.agent('running');
  path = `/agents/${agent}/notes`;
});
after(() => world?.close());

test('it is made, listed and removed, within its quota, with its events and its own error', async () => {
  const { status, body, text } = await client.call('POST', path, { text: 'buy milk' });
  assert.equal(status, 201, text);
  assert.deepEqual(body, { ...body, object: 'note', agent_id: agent, text: 'buy milk' });
  assert.deepEqual((await client.call('GET', path)).body, [body]);
  const more = await Promise.all([1, 2, 3].map((n) => client.call('POST', path, { text: `${n}` })));
  assert.deepEqual(more.map(({ body: reply }) => String(reply.error?.code ?? reply.object)).toSorted(), [
    'note',
    'note',
    'quota_exceeded',
  ]);
  assert.equal((await client.call('DELETE', `${path}/${body.id}`)).status, 200);
  const gone = await client.call('DELETE', `${path}/${body.id}`);
  assert.deepEqual(
    [gone.status, gone.body.error.type, gone.body.error.code],
    [404, 'not_found_error', 'note_not_found'],
  );
  const { data } = (await client.call('GET', `/events?agent_id=${agent}&type=note.removed`)).body;
  assert.deepEqual(data[0].data, { note_id: body.id });
});

test('its secret is among the sealed ones, and its routes, errors and events are in the document', async () => {
  await client.call('POST', path, { text: 'a word that nobody reads' });
  const { rows } = await world.sql.query<{ text_sealed: string }>('select text_sealed from notes');
  assert.ok(rows.every(({ text_sealed: sealed }) => !sealed.includes('nobody')));
  const found = await world.store.secrets.notUnder('none', 100);
  assert.ok(found.some(({ place }) => place === 'notes.text_sealed'));
  const { openApiJson } = await import('../../../../apps/server/src/http/openapi/document.ts');
  const document = await openApiJson();
  for (const word of ['/v1/agents/{id}/notes/{note}', 'note_not_found', 'note.created']) {
    assert.ok(document.includes(word), word);
  }
});
