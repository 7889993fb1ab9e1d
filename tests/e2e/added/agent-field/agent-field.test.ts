/** A further field of the agent: a migration, a line for its reply and one for its requests. The rest is generated. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import type { World } from '../../api/world.ts';
import type { Client } from '../../contract/states.ts';
import { edit } from '../edits.ts';
import { fieldEdits, generatedEdits } from './edits.ts';

edit([...fieldEdits, ...generatedEdits]);
const { openWorld } = await import('../../api/world.ts');
const { Client: ApiClient } = await import('../../contract/states.ts');

let world: World;
let client: Client;

before(async () => {
  world = await openWorld({ loops: false });
  await world.sql.query(await readFile(new URL('migration.sql', import.meta.url), 'utf8'));
  client = new ApiClient(world);
});
after(() => world?.close());

test('it is created, replied, listed, changed with an event and another ETag, and reset', async () => {
  const given = { name: 'Support bot', nickname: 'sup' };
  const created = await client.call('POST', '/agents?wait=false', given);
  assert.equal(created.status, 202, created.text);
  assert.equal(created.body.nickname, 'sup');
  const path = `/agents/${created.body.id}`;
  const { data } = (await client.call('GET', '/agents')).body;
  assert.deepEqual(
    data.map(({ nickname }: { readonly nickname: string }) => nickname),
    ['sup'],
  );
  const read = await client.call('GET', path);
  const changed = await client.call('PATCH', path, { nickname: 'helper' });
  assert.equal(changed.body.nickname, 'helper');
  assert.notEqual(changed.headers.get('etag'), read.headers.get('etag'));
  const { data: events } = (await client.call('GET', `/events?agent_id=${created.body.id}&type=agent.updated`)).body;
  assert.deepEqual(events[0].data, { fields: ['nickname'] });
  assert.equal((await client.call('PATCH', path, { nickname: null })).body.nickname, null);
  assert.equal((await client.call('GET', path)).body.nickname, null);
  const refused = await client.call('PATCH', path, { nickname: 'x'.repeat(41) });
  assert.deepEqual([refused.status, refused.body.error.code], [400, 'invalid_request']);
});

test('the document has it in the reply and in both requests', async () => {
  const { openApiJson } = await import('../../../../apps/server/src/http/openapi/document.ts');
  assert.ok((await openApiJson()).split('"nickname":').length > 3);
});
