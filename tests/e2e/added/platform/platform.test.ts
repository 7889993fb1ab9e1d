/**
 * A sixth platform: this folder, and lines in two files of the product (`edits.ts`). A real one has a third, the steps of its
 * set-up in the dashboard (docs/contributing/adding-a-channel.md).
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { World } from '../../api/world.ts';
import type { Client } from '../../contract/states.ts';
import { edit } from '../edits.ts';
import { platformEdits } from './edits.ts';
import { Loft } from './loft.ts';

edit(platformEdits);
const { openWorld } = await import('../../api/world.ts');
const { Client: ApiClient } = await import('../../contract/states.ts');
const { until } = await import('../../../../packages/testkit/src/plane/plane.ts');
const { redact } = await import('@lodge/domain');

const loft = new Loft();
let world: World;
let client: Client;
let path: string;

before(async () => {
  world = await openWorld({
    relays: 'processes',
    relayEntry: fileURLToPath(new URL('relay.ts', import.meta.url)),
    settings: { LODGE_PIGEON_LOFT: await loft.open() },
  });
  client = new ApiClient(world);
  path = `/agents/${await client.agent('running')}/channels/pigeon`;
});
after(async () => {
  await world?.close();
  loft.close();
});

test('its token is asked for, verified at the platform, and taken out of texts', async () => {
  const none = await client.call('PUT', path, {});
  assert.match(none.body.error.message, /^botToken is required for Pigeon/);
  const wrong = await client.call('PUT', path, { botToken: 'coo-wrong' });
  assert.match(wrong.body.error.message, /^botToken could not be verified: Pigeon knows no such token/);
  const { status, text } = await client.call('PUT', path, { botToken: loft.token, access: { mode: 'open' } });
  assert.equal(status, 200, text);
  await until('it is connected', async () => (await client.call('GET', path)).body.status === 'connected', 60_000);
  assert.equal(redact(`the token is ${loft.token}`), 'the token is [redacted]');
});

test('a message comes in over a relay process, and the answer of the agent goes out', async () => {
  loft.write('ann', 'Hello');
  await until('it is answered', () => loft.sent.length > 0, 60_000);
  assert.deepEqual(loft.sent, [{ to: 'ann', text: 'plum' }]);
});

test('it can be put with a new agent, and has a place in the document and in the settings', async () => {
  const body = { name: 'pigeons', channels: { pigeon: { botToken: 'coo-wrong' } } };
  const refused = await client.call('POST', '/agents', body);
  assert.match(refused.body.error.message, /^channels\.pigeon\.botToken could not be verified/);
  const { configurationMarkdown } = await import('../../../../apps/server/src/config/reference.ts');
  assert.match(configurationMarkdown(), /`LODGE_PIGEON_LOFT`/);
  const { openApiJson } = await import('../../../../apps/server/src/http/openapi/document.ts');
  assert.match(await openApiJson(), /`discord`, `telegram` and `pigeon` need `botToken`/);
});
