/** API keys' rights over API keys. */
import type { Scope } from '@lodge/domain';
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { testWorld } from '../../../../../../packages/testkit/src/plane/http/account-area.ts';
import type { Reply } from '../../../../../../packages/testkit/src/plane/http/account-area.ts';

const world = await testWorld();
after(() => world.close());
const me = await world.member();
const program = world.browser();

async function keyWith(...scopes: Scope[]): Promise<{ readonly id: string; readonly headers: Record<string, string> }> {
  const { body } = await me.call('POST', '/keys', { name: scopes.join(' '), scopes });
  return { id: body.id, headers: { authorization: `Bearer ${body.key}` } };
}
const codeOf = ({ status, body }: Reply): unknown => [status, body?.error?.code];

/** The server that knows a key hears of its end by a notification, some milliseconds later. */
async function refusedSoon(headers: Record<string, string>): Promise<unknown> {
  const until = Date.now() + 10_000;
  for (;;) {
    const reply = await program.call('GET', '/keys/current', undefined, headers);
    if (reply.status !== 200 || Date.now() > until) return codeOf(reply);
  }
}

test('a key sees and revokes itself, and nothing else, whatever its scopes', async () => {
  const { id, headers } = await keyWith('agents:chat');
  const seen = await program.call('GET', '/keys/current', undefined, headers);
  assert.deepEqual([seen.status, seen.body.id, 'key' in seen.body], [200, id, false]);
  const other = await keyWith('agents:read');
  for (const [method, path, body] of [
    ['GET', '/keys', undefined],
    ['POST', '/keys', { name: 'k', scopes: ['agents:chat'] }],
    ['DELETE', `/keys/${other.id}`, undefined],
    ['DELETE', `/keys/${id}`, undefined],
  ] as const) {
    assert.deepEqual(codeOf(await program.call(method, path, body, headers)), [403, 'insufficient_scope'], path);
  }
  const gone = await program.call('DELETE', '/keys/current', undefined, headers);
  assert.ok(gone.body.revoked_at);
  assert.deepEqual(await refusedSoon(headers), [401, 'revoked_api_key']);
  assert.deepEqual(codeOf(await me.call('GET', '/keys/current')), [404, 'key_not_found']);
  assert.deepEqual(codeOf(await me.call('DELETE', '/keys/current')), [404, 'key_not_found']);
});

test('a key with keys:write lists and revokes the keys of its account alone, and makes no stronger one', async () => {
  const { id, headers } = await keyWith('agents:read', 'keys:write');
  const stranger = await world.member();
  const theirs = (await stranger.call('POST', '/keys', { name: 'k', scopes: ['agents:read'] })).body.id;
  const listed: { id: string }[] = (await program.call('GET', '/keys', undefined, headers)).body.data;
  assert.ok(listed.some((key) => key.id === id) && listed.every((key) => key.id !== theirs));
  assert.deepEqual(codeOf(await program.call('DELETE', `/keys/${theirs}`, undefined, headers)), [404, 'key_not_found']);
  const strong = { name: 's', scopes: ['agents:read', 'agents:write'] };
  assert.deepEqual(codeOf(await program.call('POST', '/keys', strong, headers)), [403, 'insufficient_scope']);
  const child = await program.call('POST', '/keys', { name: 'c', scopes: ['agents:read'] }, headers);
  assert.deepEqual([child.status, child.body.made_by], [201, id]);
  await program.call('DELETE', `/keys/${id}`, undefined, headers);
  const byChild = { authorization: `Bearer ${child.body.key}` };
  assert.deepEqual(await refusedSoon(byChild), [401, 'revoked_api_key']);
});

test('a viewer still sees and revokes their keys, though their role has no keys:write', async () => {
  const viewer = await world.member('viewer');
  const { body } = await viewer.call('POST', '/keys', { name: 'r', scopes: ['agents:read'] });
  assert.equal((await viewer.call('GET', '/keys')).body.data.length, 1);
  assert.equal((await viewer.call('DELETE', `/keys/${body.id}`)).status, 200);
});
