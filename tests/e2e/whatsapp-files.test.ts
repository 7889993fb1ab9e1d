/** Files of WhatsApp from end to end: the API, the engine, a relay process, and a stub of WhatsApp with its media host. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startWhatsAppStub } from '@lodge/testkit/whatsapp';
import type { PersonFile, WhatsAppStub } from '@lodge/testkit/whatsapp';
import { until } from '../../packages/testkit/src/plane/plane.ts';
import { openWorld } from './api/world.ts';
import type { World } from './api/world.ts';
import { Client } from './contract/states.ts';

let whatsapp: WhatsAppStub;
let world: World;
let client: Client;
let agentId: string;

before(async () => {
  whatsapp = await startWhatsAppStub();
  whatsapp.misbehave.fewPreKeys = true;
  world = await openWorld({
    withGuest: true,
    relays: 'processes',
    settings: {
      LODGE_WHATSAPP_URL: whatsapp.url,
      LODGE_WHATSAPP_MEDIA: whatsapp.media.url,
      LODGE_WHATSAPP_ROOT: whatsapp.root.toString('hex'),
    },
  });
  client = new Client(world);
  agentId = await client.agent('running');
});
after(async () => {
  await world?.close();
  await whatsapp?.close();
});

const path = (more = ''): string => `/agents/${agentId}/channels/whatsapp${more}`;

test('a file that a person sends is in the workspace, a damaged one is told of, and a linked one is sent', async () => {
  const account = whatsapp.account('15551234567', 'Agent');
  const ann = whatsapp.person('15557654321', 'Ann');
  const opened = await client.call('PUT', path(), { enabled: true, access: { mode: 'open' } });
  assert.equal(opened.status, 200, opened.text);
  const { body } = await client.call('POST', path('/pair'));
  whatsapp.scan(account, body.qr);
  await until('it is connected', async () => (await client.call('GET', path())).body.status === 'connected', 60_000);

  const notes: PersonFile = {
    name: 'notes.txt',
    mediaType: 'text/plain',
    bytes: Buffer.from('my notes'),
    caption: 'See',
  };
  await whatsapp.write(ann, account, '', { message: whatsapp.media.put(notes) });
  await until('it is answered', () => ann.shown.length === 1, 60_000);
  const { rows } = await world.sql.query<{ id: string }>(
    'select message_id as id from channel_files where agent_id = $1',
    [agentId],
  );
  const inbox = join(world.guest!.root, 'workspace/inbox', rows[0]!.id, 'notes.txt');
  assert.equal(readFileSync(inbox, 'utf8'), 'my notes');

  whatsapp.media.misbehave.downloads = 'forged';
  await whatsapp.write(ann, account, '', { message: whatsapp.media.put(notes) });
  await until('it is answered', () => ann.shown.length === 2, 60_000);
  const { rows: failed } = await world.sql.query<{ reason: string }>(
    'select reason from channel_files where agent_id = $1 and file_key is null',
    [agentId],
  );
  assert.deepEqual(failed, [{ reason: 'it could not be fetched' }]);

  const report = Buffer.alloc(100_000, 'report ');
  writeFileSync(join(world.guest!.root, 'workspace/report.pdf'), report);
  await whatsapp.write(ann, account, 'Link /workspace/report.pdf');
  const sent = () => ann.shown.flatMap(({ message }) => whatsapp.media.fileOf(message) ?? []);
  await until('the file is there', () => sent().length === 1, 60_000);
  assert.deepEqual([sent()[0]!.name, sent()[0]!.mediaType], ['report.pdf', 'application/pdf']);
  assert.deepEqual(sent()[0]!.bytes, report);
});
