/** Discord's own features: sessions that are resumed or lost, intents, nonces, its errors. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { intents, startDiscordStub } from '@lodge/testkit/discord';
import type { DiscordStub } from '@lodge/testkit/discord';
import { begunAt, connectedAt, dm, roomOf } from './testing/world.ts';

describe('Discord', { timeout: 30_000 }, () => {
  let stub: DiscordStub;
  before(async () => {
    stub = await startDiscordStub();
  });
  after(() => stub.close());

  const begun = (t: TestContext, more: Parameters<typeof begunAt>[2] = {}) => begunAt(stub, t, more);
  const connected = (t: TestContext, more: Parameters<typeof begunAt>[2] = {}) => connectedAt(stub, t, more);

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

  test('a channel that could not be read is read later, whatever was taken there meanwhile', async (t) => {
    const { bot, gateway, host } = await connected(t, { timings: { compareAfterMs: 2_000 } });
    stub.write(bot, { channel: dm, text: 'known' });
    await host.message('known');
    stub.fail({ on: `GET /channels/${dm.id}/messages`, status: 500, times: 4 });
    gateway.forgetSessions();
    gateway.cut();
    stub.write(bot, { channel: dm, text: 'missed', isSilent: true });
    await host.until(() => gateway.identified.length === 2, 'another login');
    stub.write(bot, { channel: dm, text: 'taken' });
    await host.message('taken');
    assert.ok(!host.kept.messages.some(({ text }) => text === 'missed'));
    await host.message('missed');
  });

  test('a relay that dies while it reads what was missed leaves the rest to the next', async (t) => {
    const first = await connected(t);
    const { bot, gateway, host, kept } = first;
    const rooms = [roomOf(bot), roomOf(bot, { id: '500000000000000004' })];
    for (const channel of [dm, ...rooms]) stub.write(bot, { channel, text: `known ${channel.id}`, mention: true });
    await host.message(`known ${rooms[1]!.id}`);
    gateway.forgetSessions();
    gateway.cut();
    for (const channel of [dm, ...rooms])
      stub.write(bot, { channel, text: `missed ${channel.id}`, mention: true, isSilent: true });
    await host.until(() => {
      if (host.kept.messages.length === 4) host.behaviour = 'hang';
      return host.kept.messages.length >= 4;
    }, 'the first of them');
    await first.connection.close();
    const next = await connected(t, { bot, cursor: kept.cursor });
    for (const channel of [dm, ...rooms]) {
      const text = `missed ${channel.id}`;
      if (!kept.messages.some((each) => each.text === text)) await next.host.message(text);
    }
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
    await host.findsDeaf(
      (text) => stub.write(bot, { channel: dm, text }),
      () => gateway.identified.length === 2,
    );
    assert.ok(host.states.some((state) => state.status === 'disconnected' && state.reason.code === 'deaf'));
  });

  test('a glance at the most recent channel is enough to find it out', async (t) => {
    const timings = { compareAfterMs: 60_000, glanceAfterMs: 300 };
    const { bot, gateway, host } = await connected(t, { timings });
    stub.write(bot, { channel: dm, text: 'heard before' });
    await host.message('heard before');
    gateway.deafen();
    await host.findsDeaf(
      (text) => stub.write(bot, { channel: dm, text }),
      () => gateway.identified.length === 2,
    );
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
});
