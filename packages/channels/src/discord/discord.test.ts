/** What only Discord does: sessions that are resumed or lost, intents, nonces, its words for what is wrong. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Json } from '@lodge/domain';
import { ChannelFailure, SendFailure } from '@lodge/ports';
import { intents, startDiscordStub } from '@lodge/testkit/discord';
import type { DiscordBot, DiscordChannel, DiscordStub } from '@lodge/testkit/discord';
import { Kept, TestHost } from '../../conformance/host.ts';
import { targetOf } from '../../conformance/world.ts';
import { createDiscord } from './discord.ts';
import { InvalidRequests } from './invalid.ts';

const timings = {
  backoff: { firstMs: 20, maxMs: 100, stableMs: 1_000 },
  helloTimeoutMs: 500,
  readyTimeoutMs: 500,
  loginWaitMs: 5,
  settleMs: 30,
  compareAfterMs: 60_000,
  lateMs: 100,
  keepPlaceEveryMs: 60_000,
};
const dm: DiscordChannel = { id: '500000000000000001', type: 1 };

describe('Discord', { timeout: 30_000 }, () => {
  let stub: DiscordStub;
  before(async () => {
    stub = await startDiscordStub();
  });
  after(() => stub.close());

  const platform = (more: object = {}) =>
    createDiscord({ apiUrl: stub.apiUrl, callTimeoutMs: 1_000, timings: { ...timings, ...more } });
  const roomOf = (bot: DiscordBot, more: Partial<DiscordChannel> = {}): DiscordChannel => ({
    id: '500000000000000002',
    type: 0,
    name: 'general',
    guild_id: bot.guildId,
    ...more,
  });

  async function begun(
    t: TestContext,
    more: {
      readonly bot?: DiscordBot;
      readonly wantsUnaddressed?: boolean;
      readonly cursor?: Json | null;
      readonly timings?: object;
    } = {},
  ) {
    const bot = more.bot ?? stub.addBot();
    const gateway = stub.gatewayOf(bot);
    const kept = new Kept({ botToken: bot.token });
    const host = new TestHost(kept);
    const { wantsUnaddressed = false, cursor = null } = more;
    const account = { agentId: 'one', credentials: kept.credentials, wantsUnaddressed, cursor };
    const connection = platform(more.timings).connect(account, host);
    t.after(() => connection.close());
    return { bot, gateway, host, connection, kept };
  }

  async function connected(t: TestContext, more: Parameters<typeof begun>[1] = {}) {
    const world = await begun(t, more);
    await world.host.reaches('connected');
    return world;
  }

  test('a login asks for what needs no switch, and for contents only where everything is wanted', async (t) => {
    const one = await connected(t);
    assert.deepEqual(one.gateway.identified, [4609]);
    const all = await connected(t, { wantsUnaddressed: true });
    assert.deepEqual(all.gateway.identified, [4609 | intents.messageContent]);
  });

  test('a cut session is resumed, and what came meanwhile is told again', async (t) => {
    const { bot, gateway, host } = await connected(t);
    stub.isDown = true;
    gateway.cut();
    await host.reaches('disconnected');
    stub.write(bot, { channel: dm, text: 'missed' });
    stub.isDown = false;
    await host.message('missed');
    assert.equal(gateway.resumed, 1);
    assert.equal(gateway.identified.length, 1);
  });

  test('a reconnect that Discord asks for is no loss', async (t) => {
    const { bot, gateway, host } = await connected(t);
    gateway.say({ op: 7, d: null });
    await host.until(() => gateway.resumed === 1, 'the resume');
    stub.write(bot, { channel: dm, text: 'after' });
    await host.message('after');
    assert.ok(host.states.every(({ status }) => status === 'connecting' || status === 'connected'));
  });

  test('a lost session is begun anew, and channels are read, also one that was never seen', async (t) => {
    const { bot, gateway, host } = await connected(t);
    stub.write(bot, { channel: dm, text: 'known' });
    await host.message('known');
    const room = roomOf(bot);
    const thread = roomOf(bot, { id: '500000000000000003', type: 11, name: 'side', parent_id: room.id });
    gateway.forgetSessions();
    stub.write(bot, { channel: dm, text: 'missed directly', isSilent: true });
    stub.write(bot, { channel: room, text: 'missed in a channel', mention: true, isSilent: true });
    stub.write(bot, { channel: thread, text: 'missed in a thread', mention: true, isSilent: true });
    stub.write(bot, { channel: room, text: 'not for the agent', isSilent: true });
    gateway.cut();
    for (const text of ['missed directly', 'missed in a channel', 'missed in a thread']) await host.message(text);
    assert.equal(gateway.identified.length, 2);
    assert.equal((await host.message('missed in a thread')).conversation.id, `${room.id}/${thread.id}`);
    assert.equal((await host.message('missed directly')).conversation.kind, 'direct');
    assert.ok(!host.deliveries.some(({ text }) => text === 'not for the agent'));
  });

  test('a session that three times does not come back is given up', async (t) => {
    const { bot, gateway, host } = await connected(t);
    gateway.isMute = true;
    gateway.cut();
    await host.until(() => gateway.opened >= 4, 'three resumes', 8_000);
    gateway.isMute = false;
    await host.reaches('connected', 8_000);
    stub.write(bot, { channel: dm, text: 'back' });
    await host.message('back');
    assert.equal(gateway.identified.length, 2);
  });

  test('the place in the session is kept with the messages up to it, and never before', async (t) => {
    const { bot, host, kept } = await connected(t);
    const placeOf = () => (kept.cursor as { session: { seq: number } }).session.seq;
    const before = placeOf();
    host.behaviour = 'reject';
    stub.write(bot, { channel: dm, text: 'one' });
    stub.gatewayOf(bot).dispatch('TYPING_START', {});
    await host.until(() => host.attempts > 1, 'tries');
    assert.equal(placeOf(), before);
    host.behaviour = 'commit';
    await host.message('one');
    assert.equal(placeOf(), before + 1);
  });

  test('a heartbeat that is not acknowledged ends the socket, and the session goes on', async (t) => {
    const bot = stub.addBot();
    const gateway = stub.gatewayOf(bot);
    gateway.heartbeatMs = 60;
    const { host } = await connected(t, { bot });
    gateway.ignoresBeats = true;
    await host.until(() => gateway.opened > 1, 'another socket');
    gateway.ignoresBeats = false;
    stub.write(bot, { channel: dm, text: 'alive' });
    await host.message('alive');
    assert.equal(gateway.identified.length, 1);
    gateway.heartbeatMs = 41_250;
  });

  test('a session that delivers nothing is found out by what stands in the channels', async (t) => {
    const { bot, gateway, host } = await connected(t, { timings: { compareAfterMs: 300 } });
    stub.write(bot, { channel: dm, text: 'heard' });
    await host.message('heard');
    await sleep(800);
    assert.equal(gateway.opened, 1, 'a quiet session is left alone');
    gateway.deafen();
    stub.write(bot, { channel: dm, text: 'unheard' });
    await host.message('unheard');
    await host.until(() => gateway.identified.length === 2, 'another login');
    assert.ok(host.states.some((state) => state.status === 'disconnected' && state.reason.code === 'deaf'));
  });

  test('what only a person can mend is an error with its reason', async (t) => {
    const revoked = await connected(t);
    revoked.bot.isRevoked = true;
    revoked.gateway.close(4004);
    await revoked.host.reaches('error');
    const bot = stub.addBot();
    bot.mayReadContent = false;
    const { host, gateway } = await begun(t, { bot, wantsUnaddressed: true });
    await host.reaches('error');
    const last = host.states.at(-1)!;
    assert.ok(last.status === 'error' && last.reason.code === 'missing_permission');
    assert.match(last.reason.message, /Message Content Intent/);
    await sleep(200);
    assert.equal(gateway.opened, 1);
  });

  test('without logins left it waits', async (t) => {
    const bot = stub.addBot();
    stub.gatewayOf(bot).startsLeft = 0;
    const { host } = await begun(t, { bot });
    await host.reaches('disconnected');
    assert.equal(stub.gatewayOf(bot).opened, 0);
    stub.gatewayOf(bot).startsLeft = 10;
    await host.reaches('connected');
  });

  test('hostile frames end nothing', async (t) => {
    const { bot, gateway, host } = await connected(t);
    for (const frame of [
      '',
      '[]',
      'null',
      '{"op":0}',
      '{"op":10,"d":null}',
      '{"op":11,"d":7}',
      '{"op":1}',
      '{"op":0,"t":"MESSAGE_CREATE","s":2,"d":null}',
      '{"op":0,"t":"GUILD_CREATE","s":2,"d":{"channels":[null,7,{"id":{}}]}}',
      '['.repeat(10_000),
    ])
      gateway.say(frame);
    gateway.dispatch('MESSAGE_CREATE', { id: 'x', channel_id: '../..', author: { id: 7 }, type: 0 });
    stub.write(bot, { channel: dm, text: 'alive' });
    await host.message('alive');
    gateway.say({ op: 9 });
    await host.until(() => gateway.identified.length === 2, 'another login');
    stub.write(bot, { channel: dm, text: 'alive again' });
    await host.message('alive again');
  });

  test('closing while the socket opens, or right after, ends nothing else', async (t) => {
    for (const delayMs of [0, 5, 10, 20, 40]) {
      const { connection } = await begun(t);
      await sleep(delayMs);
      await connection.close();
    }
    await sleep(100);
  });

  test('mentions are read as names, and other types of messages are none', async (t) => {
    const { bot, host } = await connected(t);
    stub.write(bot, { channel: roomOf(bot), text: 'joined', type: 7 });
    stub.write(bot, { channel: roomOf(bot), text: `tell <@${bot.user.id}> <@123456789012345678>`, mention: true });
    const message = await host.message('tell @agent <@123456789012345678>');
    assert.equal(message.conversation.title, 'general');
    assert.equal(host.deliveries.length, 1);
  });

  test('an answer names what it answers, rings nobody, and is sent once', async (t) => {
    const { bot, host, connection } = await connected(t);
    const written = stub.write(bot, { channel: roomOf(bot), text: 'hello', mention: true });
    const target = targetOf(await host.message('hello'));
    const part = { kind: 'text', text: '@everyone hi', format: null } as const;
    const send = (key: string) => connection.send(target, part, key, AbortSignal.timeout(2_000));
    const key = crypto.randomUUID();
    stub.fail({ on: 'POST /channels', isLost: true });
    await assert.rejects(send(key), (error) => error instanceof SendFailure && error.outcome === 'unknown');
    const { id } = await send(key);
    assert.equal(bot.sent.length, 1);
    assert.equal(bot.sent[0]!.message.id, id);
    assert.equal(bot.sent[0]!.message.message_reference?.message_id, written.id);
    assert.deepEqual(bot.bodies[0]!['allowed_mentions'], { parse: [] });
    await send(crypto.randomUUID());
    assert.equal(bot.sent.length, 2);
  });

  test('a refusal is told from what may be tried again', async (t) => {
    const { bot, host, connection } = await connected(t);
    stub.write(bot, { channel: dm, text: 'hello' });
    const target = targetOf(await host.message('hello'));
    const send = () =>
      connection.send(target, { kind: 'text', text: 'x', format: null }, 'k', AbortSignal.timeout(2_000));
    for (const [status, outcome] of [
      [403, 'refused'],
      [404, 'refused'],
      [400, 'refused'],
      [401, 'retry'],
      [500, 'unknown'],
      [502, 'unknown'],
    ] as const) {
      stub.fail({ on: 'POST /channels', status });
      await assert.rejects(
        send(),
        (failure) => failure instanceof SendFailure && failure.outcome === outcome,
        String(status),
      );
    }
    const open = async function* () {
      yield Buffer.alloc(1);
    };
    const part = { kind: 'file', name: 'a', mediaType: 'a/b', bytes: 11 * 1024 * 1024, open } as const;
    await assert.rejects(
      connection.send(target, part, 'k', AbortSignal.timeout(2_000)),
      (failure) => failure instanceof SendFailure && failure.outcome === 'refused',
    );
  });

  test('a file that lies elsewhere is not fetched', async (t) => {
    const { bot, host, connection } = await connected(t);
    stub.write(bot, {
      channel: dm,
      text: 'file',
      files: [{ name: 'a.txt', type: 'text/plain', content: Buffer.from('abc') }],
    });
    const [file] = (await host.message('file')).files;
    const id = file!.ref.split('/')[2];
    stub.fail({ on: 'GET /channels', status: 200, body: { attachments: [{ id, url: 'https://evil.example/a.txt' }] } });
    await assert.rejects(connection.open(file!.ref, 100, new AbortController().signal), /not lie at Discord/);
  });

  test('tokens of other kinds are named before Discord is asked', async () => {
    const calls = stub.calls.length;
    for (const [botToken, words] of [
      ['800000000000000001', /id of the application/],
      ['a'.repeat(32), /client secret/],
      ['b'.repeat(64), /public key/],
      ['xoxb-1-2', /three parts/],
      ['', /three parts/],
    ] as const) {
      await assert.rejects(platform().verify!({ botToken }, new AbortController().signal), (error) => {
        assert.ok(error instanceof ChannelFailure);
        assert.equal(error.reason.code, 'wrong_kind_of_credential');
        assert.match(error.message, words);
        return true;
      });
    }
    assert.equal(stub.calls.length, calls);
  });

  test('good ones say who the agent is', async () => {
    const { token, user, applicationId } = stub.addBot();
    assert.deepEqual(await platform().verify!({ botToken: token }, new AbortController().signal), {
      identity: { id: user.id, name: 'agent' },
      accountKey: applicationId,
    });
  });

  test('requests that Discord counts as invalid stop before its ban', () => {
    let now = 0;
    const invalid = new InvalidRequests(3, () => now);
    for (const status of [200, 404, 401, 403]) invalid.count(status);
    assert.equal(invalid.mustRest(), false);
    invalid.count(429);
    assert.equal(invalid.mustRest(), true);
    assert.equal(invalid.restMs(), 600_000);
    now = 600_000;
    assert.equal(invalid.mustRest(), false);
    invalid.count(401);
    assert.equal(invalid.mustRest(), false);
  });
});
