/** Channels over HTTP, on a real database: what owners put, read and do, and that no secret comes out anywhere. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { createRelayStore } from '@lodge/engine';
import { FakeCheck } from '../../packages/testkit/src/plane/channels.ts';
import { RelayHand } from '../../packages/testkit/src/plane/relay-hand.ts';
import { openWorld, testMasterKey } from './api/world.ts';
import type { World } from './api/world.ts';
import { Client } from './contract/states.ts';

const check = new FakeCheck();
const logged: string[] = [];
let world: World;
let client: Client;
let agentId: string;
let bots = 0;
/** Never the same twice. */
const token = (): string => `bot${(bots += 1)}:very-secret-token-${bots}`;

before(async () => {
  world = await openWorld({
    relays: check,
    onError: (fields, message) => void logged.push(JSON.stringify([fields, message])),
  });
  client = new Client(world);
});
after(() => world?.close());
beforeEach(async () => {
  check.isDown = false;
  agentId = await client.agent('running');
});

const put = (channel: string, body: object, query = '', id = agentId) =>
  client.call('PUT', `/agents/${id}/channels/${channel}${query}`, body);
const get = (path: string) => client.call('GET', `/agents/${agentId}${path}`);
const post = (path: string, body?: object) => client.call('POST', `/agents/${agentId}${path}`, body);
const codeOf = ({ status, body }: { readonly status: number; readonly body: any }) => [status, body.error?.code];

describe('PUT', () => {
  test('200: what was put is read, its secrets by their last four characters alone', async () => {
    const botToken = token();
    const answer = await put('telegram', { botToken, access: { mode: 'allowlist', allow_from: ['7'] } });
    assert.equal(answer.status, 200, answer.text);
    const { channel, status, credentials, access } = answer.body;
    assert.deepEqual([channel, status], ['telegram', 'connecting']);
    assert.equal(credentials.botToken.set, true);
    assert.equal(credentials.botToken.last4, botToken.slice(-4));
    assert.deepEqual([access.mode, access.allow_from, access.groups.require_mention], ['allowlist', ['7'], true]);
    assert.deepEqual((await get('/channels/telegram')).body, answer.body);
    assert.deepEqual((await get('/channels')).body.data, [answer.body]);
    assert.deepEqual((await get('')).body.channels, [{ channel: 'telegram', status: 'connecting' }]);
    const { body } = await client.call('GET', '/agents?limit=100');
    const listed = body.data.find(({ id }: { id: string }) => id === agentId);
    assert.deepEqual(listed.channels, [{ channel: 'telegram', status: 'connecting' }]);
  });

  test('200: a secret that is left out stays, and the platform is not asked of it; all else is replaced', async () => {
    await put('telegram', { botToken: token(), access: { mode: 'open' } });
    check.isDown = true;
    const { body } = await put('telegram', { enabled: false });
    assert.deepEqual([body.enabled, body.status, body.access.mode], [false, 'disabled', 'pairing']);
    assert.equal(body.credentials.botToken.set, true);
  });

  test('200: one of two secrets may be changed alone, and both are verified', async () => {
    await put('slack', { appToken: 'xapp-1', botToken: token() });
    const asked = check.asked.length;
    assert.equal((await put('slack', { botToken: token() })).status, 200);
    assert.equal(check.asked.length, asked + 1);
  });

  test('400 names the credential that is missing, or that the platform does not take, and writes nothing', async () => {
    const missing = await put('slack', { botToken: token() });
    assert.deepEqual(codeOf(missing), [400, 'invalid_request']);
    assert.match(missing.body.error.message, /^appToken is required for Slack\.$/);
    const bad = await put('discord', { botToken: 'bad:secret' });
    assert.match(bad.body.error.message, /^botToken could not be verified: The botToken is not known\.$/);
    const strange = await put('telegram', { appToken: 'xapp-1', botToken: token() });
    assert.match(strange.body.error.message, /^appToken is not a known field of Telegram\.$/);
    assert.deepEqual((await get('/channels')).body.data, []);
  });

  test('400 says how to go on when the platform is down', async () => {
    check.isDown = true;
    const botToken = token();
    const down = await put('telegram', { botToken });
    assert.equal(down.status, 400);
    assert.match(down.body.error.message, /botToken.*\?verify=false/);
    assert.equal((await put('telegram', { botToken }, '?verify=false')).status, 200);
  });

  test('409 channel_conflict: one verified bot on two agents', async () => {
    const other = await client.agent('running');
    const botToken = token();
    assert.equal((await put('telegram', { botToken })).status, 200);
    assert.deepEqual(codeOf(await put('telegram', { botToken }, '', other)), [409, 'channel_conflict']);
    assert.equal((await client.call('GET', `/agents/${other}/channels/telegram`)).body.status, 'not_configured');
  });

  test('a made-up token keeps no account out, and the reply tells nothing of who uses the bot', async () => {
    const eve = await client.agent('running');
    const puts = { enabled: false, botToken: '777000123:made-up' };
    const before = await put('telegram', puts, '?verify=false', eve);
    assert.equal((await put('telegram', { botToken: '777000123:real' })).status, 200);
    const after = await put('telegram', puts, '?verify=false', eve);
    assert.deepEqual([before.status, after.status], [200, 200]);
    // A platform that is down keeps nobody from a new token of the bot that was verified.
    assert.equal((await put('telegram', { botToken: '777000123:new' }, '?verify=false')).status, 200);
    assert.deepEqual(codeOf(await put('telegram', { botToken: '777000123:real' }, '', eve)), [409, 'channel_conflict']);
  });

  test('404: a channel that there is not, and another account’s agent', async () => {
    assert.deepEqual(codeOf(await put('fax', {})), [404, 'channel_not_found']);
    const stranger = new Client(world, await world.keyOf(await world.newAccount()));
    const answer = await stranger.call('PUT', `/agents/${agentId}/channels/telegram`, { botToken: token() });
    assert.deepEqual(codeOf(answer), [404, 'agent_not_found']);
  });

  test('200 in every state of the agent, and by the other name of gmail', async () => {
    for (const status of ['paused', 'stopped', 'error'] as const) {
      agentId = await client.agent(status);
      assert.equal((await put('telegram', { botToken: token() })).status, 200);
    }
    assert.equal((await put('email', {})).body.channel, 'gmail');
    assert.equal((await get('/channels/gmail')).body.status, 'pending_pairing');
  });
});

describe('the verbs of a channel', () => {
  test('what was never put reads as not_configured, and the rest is 404', async () => {
    assert.equal((await get('/channels/slack')).body.status, 'not_configured');
    for (const [method, path, body] of [
      ['DELETE', '', undefined],
      ['POST', '/restart', undefined],
      ['POST', '/test', undefined],
      ['GET', '/approvals', undefined],
      ['POST', '/approvals', { code: 'ABC', action: 'approve' }],
    ] as const) {
      const answer = await client.call(method, `/agents/${agentId}/channels/slack${path}`, body);
      assert.deepEqual(codeOf(answer), [404, 'channel_not_found'], method + path);
    }
  });

  test('restart and DELETE', async () => {
    await put('telegram', { botToken: token() });
    assert.equal((await post('/channels/telegram/restart')).body.status, 'connecting');
    const gone = await client.call('DELETE', `/agents/${agentId}/channels/telegram`);
    assert.deepEqual(gone.body, { object: 'channel.deleted', channel: 'telegram', deleted: true });
    assert.deepEqual((await get('')).body.channels, []);
  });

  test('test asks the platform, and sends a message where somebody wrote', async () => {
    await put('telegram', { botToken: token() });
    const fine = await post('/channels/telegram/test');
    assert.deepEqual([fine.body.ok, fine.body.identity.id, fine.body.message_queued], [true, `bot${bots}`, false]);
    check.isDown = true;
    const down = await post('/channels/telegram/test');
    assert.deepEqual([down.status, down.body.ok, down.body.reason.code], [200, false, 'platform_unreachable']);
    const nowhere = await post('/channels/telegram/test', { conversation: 'c1' });
    assert.deepEqual(codeOf(nowhere), [400, 'invalid_request']);
    const relay = await RelayHand.of(world.store, world.accountId, agentId);
    await relay.write('/help');
    await relay.answer();
    assert.equal((await post('/channels/telegram/test', { conversation: 'c1' })).body.message_queued, true);
    assert.match((await relay.answer()).join(), /test message/);
  });

  test('approvals: who asked is let in by the code that they were told', async () => {
    const pairing = { ...(await import('@lodge/domain')).defaultAccess };
    const relay = await RelayHand.of(world.store, world.accountId, agentId, pairing);
    await relay.write('hello', { sender: 'eve' });
    const { body } = await get('/channels/telegram/approvals?state=pending');
    const [asked] = body.data;
    assert.deepEqual([asked.sender.id, asked.state, typeof asked.code], ['eve', 'pending', 'string']);
    const wrong = await post('/channels/telegram/approvals', { code: 'NOTACODE', action: 'approve' });
    assert.deepEqual(codeOf(wrong), [404, 'approval_not_found']);
    const typed = ` ${asked.code.toLowerCase()} `;
    const done = await post('/channels/telegram/approvals', { code: typed, action: 'approve' });
    assert.deepEqual([done.body.state, done.body.code], ['approved', null]);
    assert.deepEqual(codeOf(await post('/channels/telegram/approvals', { code: asked.code, action: 'deny' })), [
      404,
      'approval_not_found',
    ]);
    const audit = await client.call('GET', '/audit-events?limit=5');
    const decided = audit.body.data.find(({ action }: { action: string }) => action === 'channel.sender_decided');
    assert.equal(decided.details.sender_id, 'eve');
  });
});

test('messages: pages without what was said unless it is asked for; a failed one is retried', async () => {
  const relay = await RelayHand.of(world.store, world.accountId, agentId);
  for (const text of ['/help', '/status', '/new']) {
    await relay.write(text);
    await relay.answer();
  }
  const first = await get('/messages?limit=2');
  assert.deepEqual([first.body.data.length, first.body.has_more], [2, true]);
  assert.ok(!('text' in first.body.data[0]));
  const rest = await get(`/messages?limit=2&content=true&cursor=${encodeURIComponent(first.body.next_cursor)}`);
  assert.deepEqual([rest.body.data.length, rest.body.data[0].text], [1, '/help']);
  assert.match(rest.body.data[0].answer, /begins a new conversation/);
  const { id } = rest.body.data[0];
  assert.deepEqual(codeOf(await post(`/messages/${id}/retry`)), [409, 'message_not_retryable']);
  assert.deepEqual(codeOf(await post('/messages/nothing/retry')), [404, 'message_not_found']);
  await world.sql.query(`update channel_messages set state = 'failed', answer_id = null where id = $1`, [id]);
  assert.equal((await post(`/messages/${id}/retry`)).body.state, 'received');
  assert.match((await relay.answer()).join(), /begins a new conversation/);
});

describe('a create with channels', () => {
  const create = (channels: object, query = '') =>
    client.call('POST', `/agents${query}`, { name: 'x', size: 'small', channels });
  const count = async (): Promise<number> =>
    Number((await world.sql.query('select count(*) from agents')).rows[0].count);

  test('201: they are there with the agent', async () => {
    const { status, body, text } = await create({ telegram: { botToken: token() }, whatsapp: {} });
    assert.equal(status, 201, text);
    assert.deepEqual(body.channels, [
      { channel: 'telegram', status: 'connecting' },
      { channel: 'whatsapp', status: 'pending_pairing' },
    ]);
  });

  test('400 and 409 make no agent', async () => {
    const botToken = token();
    assert.equal((await put('telegram', { botToken })).status, 200);
    const before = await count();
    const missing = await create({ slack: { botToken: token() } });
    assert.match(missing.body.error.message, /^channels\.slack\.appToken is required/);
    const bad = await create({ discord: { botToken: 'bad:x' } });
    assert.match(bad.body.error.message, /^channels\.discord\.botToken could not be verified/);
    assert.deepEqual(codeOf(await create({ whatsapp: {}, telegram: { botToken } })), [409, 'channel_conflict']);
    assert.equal(await count(), before);
  });
});

describe('WhatsApp', () => {
  test('the pairing needs a live agent, shows its code to who may change the agent, and ends connected', async () => {
    const stopped = await client.agent('stopped');
    const refused = await client.call('POST', `/agents/${stopped}/channels/whatsapp/pair`);
    assert.deepEqual(codeOf(refused), [409, 'agent_not_running']);
    assert.deepEqual(codeOf(await get('/channels/whatsapp/pair')), [404, 'channel_not_found']);

    check.notOpen = 1;
    const asked = post('/channels/whatsapp/pair', { phone_number: '+491511234567' });
    const lease = await leaseOf('whatsapp');
    const expiresAt = new Date(Date.now() + 60_000);
    const { channelPairingContext } = await import('@lodge/ports');
    const { openSecretBox } = await import('@lodge/access');
    const box = await openSecretBox(world.store.secrets, testMasterKey);
    const sealed = box.seal(
      JSON.stringify({ qr: '2@abc', pairingCode: 'ABCD' }),
      channelPairingContext(agentId, 'whatsapp'),
    );
    const reason = { code: 'pairing_needed', message: 'Scan the code.' } as const;
    const code = { qr: null, pairingCode: null, expiresAt, attempt: 1 };
    await createRelayStore(world.store).changed(lease, { status: 'pending_pairing', reason, code }, sealed);
    const { status, body } = await asked;
    assert.deepEqual([status, body.status, body.qr, body.pairing_code], [200, 'pending', '2@abc', 'ABCD']);
    assert.match(body.qr_png, /^data:image\/png;base64,iVBOR/);
    assert.deepEqual(check.numbers, ['491511234567']);
    assert.equal((await get('/channels/whatsapp/pair')).body.attempt, 1);
    const reader = new Client(world, await world.keyOf(world.accountId, ['agents:read']));
    const seen = await reader.call('GET', `/agents/${agentId}/channels/whatsapp/pair`);
    assert.deepEqual([seen.body.status, seen.body.qr, seen.body.qr_png], ['pending', null, null]);

    const follow = () =>
      client.call('GET', `/agents/${agentId}/channels/whatsapp/pair`, undefined, {
        headers: { accept: 'text/event-stream' },
      });
    const streams = Array.from({ length: 21 }, follow);
    // All others stay open until it is paired.
    assert.deepEqual(codeOf(await Promise.race(streams)), [429, 'rate_limit_exceeded']);
    await new Promise((resolve) => setTimeout(resolve, 200));
    await createRelayStore(world.store).changed(
      lease,
      { status: 'connected', identity: { id: '49', name: 'Bot' } },
      null,
    );
    const ended = (await Promise.all(streams)).filter(({ status }) => status === 200);
    assert.equal(ended.length, 20);
    const events = ended[0]!.text.match(/"status":"\w+"/g);
    assert.deepEqual(events, ['"status":"pending"', '"status":"connected"']);
    assert.equal((await follow()).status, 200, 'the places are free again');
  });

  async function leaseOf(channel: 'whatsapp') {
    for (;;) {
      const leases = await createRelayStore(world.store).acquire({
        relay: 'hand',
        channels: [channel],
        limit: 100,
        leaseMs: 600_000,
      });
      const lease = leases.find((each) => each.agentId === agentId);
      if (lease) return lease;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
});

test('409 gmail_not_configured where there is no Google client', async () => {
  for (const name of ['gmail', 'email']) {
    assert.deepEqual(codeOf(await post(`/channels/${name}/oauth/start`)), [409, 'gmail_not_configured']);
  }
});

test('no token is in the database, in a reply, in an event or in a log', async () => {
  const botToken = token();
  await put('slack', { appToken: 'xapp-very-secret', botToken });
  await put('discord', { botToken: `bad:${botToken}` });
  await post('/channels/slack/test');
  const { rows } = await world.sql.query<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
  );
  const texts = [logged.join('\n')];
  for (const { name } of rows) {
    const found = await world.sql.query<{ row: string }>(`select to_jsonb(t)::text as row from "${name}" t`);
    texts.push(...found.rows.map(({ row }) => row));
  }
  for (const path of ['/channels', '/channels/slack', '/logs', '/messages?content=true', ''])
    texts.push((await get(path)).text);
  for (const path of ['/events?limit=100', '/audit-events?limit=100'])
    texts.push((await client.call('GET', path)).text);
  assert.ok(texts.length > 100);
  assert.ok(!texts.some((text) => text.includes('very-secret')));
});
