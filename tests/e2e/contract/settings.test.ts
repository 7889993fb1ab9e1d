/** Instructions and members through the whole API, on a real database and engine: in effect when the reply says so, once per request, and written down. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openWorld } from '../api/world.ts';
import type { World } from '../api/world.ts';
import { Client } from './states.ts';

let world: World;
let client: Client;
before(async () => {
  world = await openWorld({ maxRunning: 10, maxAgents: 10 });
  client = new Client(world);
});
after(() => world?.close());

const instructionsOf = async (id: string): Promise<string | undefined> => {
  const { rows } = await world.sql.query('select vm_address from agents where id = $1', [id]);
  return world.host.guestAt(String(rows[0].vm_address))?.guest.memory.get('instructions');
};

test('a create and a PATCH answer when the guest has the instructions; asleep, the record says that they are pending', async () => {
  const id = await client.agent('running', { instructions: 'Be brief.' });
  assert.equal(await instructionsOf(id), 'Be brief.');
  const changed = await client.call('PATCH', `/agents/${id}`, { instructions: 'Be kind.' });
  assert.deepEqual([changed.body.settings_pending, await instructionsOf(id)], [false, 'Be kind.']);
  const { etag } = Object.fromEntries(changed.headers);
  const same = await client.call('GET', `/agents/${id}`);
  assert.equal(same.headers.get('etag'), etag, 'an ETag that was given stays good');
  await client.call('POST', `/agents/${id}/stop`);
  const asleep = await client.call('PATCH', `/agents/${id}`, { instructions: null });
  assert.equal(asleep.body.settings_pending, true);
  const awake = await client.call('POST', `/agents/${id}/start`);
  assert.deepEqual([awake.body.settings_pending, awake.body.instructions, await instructionsOf(id)], [false, null, '']);
});

test('a member is made once however often it is asked for with one Idempotency-Key, and every change is in the audit log', async () => {
  const id = await client.agent('running');
  const headers = { 'idempotency-key': 'a-member' };
  const make = () => client.call('POST', `/agents/${id}/members`, { name: 'scout' }, { headers });
  const first = await make();
  assert.deepEqual([first.status, first.body.pending], [201, false]);
  const again = await make();
  assert.deepEqual([again.status, again.body, again.headers.get('idempotent-replayed')], [201, first.body, 'true']);
  const plain = await client.call('POST', `/agents/${id}/members`, { name: 'scout' });
  assert.deepEqual([plain.status, plain.body.error.code], [409, 'member_exists']);
  await client.call('PATCH', `/agents/${id}/members/scout`, { instructions: 'Look.' });
  await client.call('DELETE', `/agents/${id}/members/scout`);
  const { data } = (await client.call('GET', '/audit-events?limit=100&order=asc')).body as {
    data: { action: string; target: { id: string }; details: object }[];
  };
  assert.deepEqual(
    data.filter(({ target, action }) => target.id === id && action.includes('member')).map(({ action }) => action),
    ['agent.member_created', 'agent.member_updated', 'agent.member_deleted'],
  );
});

test('ten members asked for at once are all there', async () => {
  const id = await client.agent('running');
  const names = Array.from({ length: 10 }, (_, n) => `m${n}`);
  const made = await Promise.all(names.map((name) => client.call('POST', `/agents/${id}/members`, { name })));
  assert.ok(made.every(({ status }) => status === 201));
  const { data } = (await client.call('GET', `/agents/${id}/members`)).body as { data: { name: string }[] };
  assert.deepEqual(data.map(({ name }) => name).toSorted(), names);
});
