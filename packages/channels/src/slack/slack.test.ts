/** Slack's own features: its sockets, its two events for one text, its threads, its errors. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startSlackStub } from '@lodge/testkit/slack';
import type { SlackStub } from '@lodge/testkit/slack';
import { Kept, TestHost } from '../../conformance/host.ts';
import { targetOf } from '../../conformance/world.ts';
import { connectedTo, platformAt } from './testing/world.ts';

describe('Slack', { timeout: 30_000 }, () => {
  let stub: SlackStub;
  before(async () => {
    stub = await startSlackStub({ retriesMs: [200, 400, 800] });
  });
  after(() => stub.close());

  const platform = () => platformAt(stub);
  const connected = (t: TestContext, more: Parameters<typeof connectedTo>[2] = {}) => connectedTo(stub, t, more);

  test('at a refresh the next socket is open before the last one closes, and nothing is missed', async (t) => {
    const { app, host, events } = await connected(t);
    let fewest = events.open;
    const watch = setInterval(() => (fewest = Math.min(fewest, events.open)), 1);
    events.disconnect('refresh_requested');
    for (let each = 0; each < 20; each += 1) {
      stub.write(app, { channel: 'D1', text: `during ${each}` });
      await sleep(10);
    }
    await host.message('during 19');
    clearInterval(watch);
    assert.equal(fewest, 1);
    assert.equal(events.opened, 2);
    await host.until(() => events.open === 1, 'the end of the old socket');
    assert.deepEqual(new Set(host.states.map(({ status }) => status)), new Set(['connecting', 'connected']));
  });

  test('a refresh whose next socket cannot be had yet keeps the old one', async (t) => {
    const { app, host, events } = await connected(t);
    stub.fail({ method: 'apps.connections.open', status: 503, times: 3 });
    events.disconnect('warning');
    await sleep(50);
    stub.write(app, { channel: 'D1', text: 'still there' });
    await host.message('still there');
    await host.until(() => events.opened === 2, 'the next socket');
    stub.mend();
  });

  test('an open socket that delivers nothing is found out by a glance at the most recent conversation', async (t) => {
    const { app, host, events } = await connected(t, { timings: { glanceAfterMs: 300 } });
    stub.write(app, { channel: 'D1', text: 'heard' });
    await host.message('heard');
    events.deafen();
    await host.findsDeaf(
      (text) => stub.write(app, { channel: 'D1', text }),
      () => events.opened === 2,
    );
    assert.ok(host.states.some((state) => state.status === 'disconnected' && state.reason.code === 'deaf'));
  });

  test('a message and its mention are one', async (t) => {
    const { app, host, events } = await connected(t, { wantsUnaddressed: true });
    stub.write(app, { channel: 'C1', title: 'general', text: `<@${app.botUserId}> once` });
    await host.message('once');
    await host.until(() => events.acknowledged.length === 2, 'both acknowledgements');
    assert.equal(new Set(host.deliveries.map(({ id }) => id)).size, 1);
    assert.equal(host.kept.messages[0]!.conversation.title, 'general');
  });

  test('in a channel a mention begins a thread, and what is written in the thread is of the same conversation', async (t) => {
    const { app, host, connection } = await connected(t);
    const ts = stub.write(app, { channel: 'C1', text: `<@${app.botUserId}>, what is this?` });
    const first = await host.message('what is this?');
    assert.equal(first.conversation.id, `C1/${ts}`);
    await connection.send(
      targetOf(first),
      { kind: 'text', text: 'This.', format: 'markdown' },
      'k1',
      AbortSignal.timeout(2_000),
    );
    assert.equal(app.sent[0]!.thread_ts, ts);
    stub.write(app, { channel: 'C1', threadTs: ts, text: `and <@${app.botUserId}> that?` });
    const second = await host.message(`and <@${app.botUserId}> that?`);
    assert.equal(second.conversation.id, first.conversation.id);
    stub.write(app, { channel: 'C1', threadTs: ts, text: 'among ourselves' });
    stub.write(app, { channel: 'D1', text: 'later' });
    await host.message('later');
    assert.ok(!host.deliveries.some(({ text }) => text === 'among ourselves'));
  });

  test('links, marks and mentions of Slack become text that a person would read', async (t) => {
    const { app, host } = await connected(t);
    stub.write(app, {
      channel: 'D1',
      text: 'see <https://a.example/x?a=1&amp;b=2|the page> &amp; <#C1|general>, <!here>: 1 &lt; 2 <',
    });
    await host.message('see [the page](https://a.example/x?a=1&b=2) & #general, @here: 1 < 2 <');
  });

  test('events out of their order and twice are all taken, once', async (t) => {
    const { app, host, events } = await connected(t);
    app.isDoubled = true;
    events.hold();
    for (const text of ['one', 'two', 'three']) stub.write(app, { channel: 'D1', text });
    events.releaseReversed();
    await host.message('one');
    await host.until(() => events.acknowledged.length === 6, 'all acknowledgements');
    assert.equal(host.kept.messages.length, 3);
    const { places } = host.kept.cursor as { places: [string, string][] };
    assert.equal(places[0]![1], app.channels.get('D1')!.messages.at(-1)!.ts);
  });

  test('a command with a space before it is a command', async (t) => {
    const { app, host } = await connected(t);
    stub.write(app, { channel: 'D1', text: ' /help' });
    await host.message('/help');
  });

  test('sockets that something else holds are named', async (t) => {
    const app = stub.addApp();
    const others = await Promise.all(Array.from({ length: 10 }, () => connected(t, { app })));
    const { appToken, botToken } = app;
    const host = new TestHost(new Kept({ appToken, botToken }));
    const account = { agentId: 'late', credentials: { appToken, botToken }, wantsUnaddressed: false, cursor: null };
    const connection = platform().connect(account, host);
    t.after(() => connection.close());
    await host.reaches('disconnected');
    const last = host.states.at(-1)!;
    assert.ok(last.status === 'disconnected' && last.reason.code === 'used_elsewhere', JSON.stringify(last));
    await others[0]!.connection.close();
    await host.reaches('connected');
  });

  test('what comes faster than it is kept is read from the history', async (t) => {
    const { app, host, events } = await connected(t);
    stub.write(app, { channel: 'D1', text: 'first' });
    await host.message('first');
    host.behaviour = 'reject';
    for (let each = 0; each < 520; each += 1) stub.write(app, { channel: 'D1', text: `number ${each}` });
    await host.reaches('disconnected');
    host.behaviour = 'commit';
    await host.message('number 519', 10_000);
    await host.until(() => host.kept.messages.length === 521, 'all of them');
    await host.until(() => events.open === 1, 'the end of the socket that was left');
  });

  test('edits, joins and what the agent itself wrote are no messages', async (t) => {
    const { app, host, events } = await connected(t);
    app.channel('D1', 'im');
    const base = { type: 'message', channel: 'D1', channel_type: 'im', text: 'no' };
    events.deliver({ ...base, ts: '1.1', subtype: 'message_changed', message: {} });
    events.deliver({ ...base, ts: '1.2', subtype: 'channel_join', user: 'U1' });
    events.deliver({ ...base, ts: '1.3', user: app.botUserId });
    events.deliver({ ...base, ts: 'x', user: 'U1' });
    events.deliver({ ...base, ts: '1.4', user: { evil: true } });
    events.deliver({ type: 'reaction_added', user: 'U1' });
    events.deliver(Object.create(null));
    stub.write(app, { channel: 'D1', text: 'yes' });
    await host.message('yes');
    assert.equal(host.deliveries.length, 1);
    await host.until(() => events.unacknowledged === 0, 'the acknowledgement of each');
  });

  test('hostile frames end nothing', async (t) => {
    const { app, host, events } = await connected(t);
    for (const frame of [
      '',
      '[]',
      'null',
      '7',
      '{"type":7}',
      '{',
      '{"type":"events_api"}',
      '['.repeat(10_000),
      '{"envelope_id":"a","type":"b"}',
    ])
      events.say(frame);
    events.say({ type: 'events_api', envelope_id: 'e1', payload: { event: null, authorizations: 7 } });
    stub.write(app, { channel: 'D1', text: 'alive' });
    await host.message('alive');
    events.say(JSON.stringify({ type: 'x', text: 'y'.repeat(2_000_000) }));
    await host.until(() => events.opened === 2, 'another socket');
    stub.write(app, { channel: 'D1', text: 'alive again' });
    await host.message('alive again');
  });

  test('a socket that answers nothing at all is replaced', async (t) => {
    const { app, host, events } = await connected(t);
    events.freeze();
    await host.until(() => host.states.some(({ status }) => status === 'disconnected'), 'the loss', 3_000);
    app.isHalfOpen = false;
    await host.reaches('connected');
    stub.write(app, { channel: 'D1', text: 'heard' });
    await host.message('heard');
  });

  test('a process that was held up takes no socket for dead', async (t) => {
    const { app, host, events } = await connected(t);
    const until = performance.now() + 1_000;
    while (performance.now() < until);
    await sleep(300);
    stub.write(app, { channel: 'D1', text: 'heard' });
    await host.message('heard');
    assert.equal(events.opened, 1);
  });

  test('after a gap the histories are read, of threads and of people who never wrote before', async (t) => {
    const { app, host, events } = await connected(t);
    const ts = stub.write(app, { channel: 'C1', text: `<@${app.botUserId}> first` });
    await host.message('first');
    app.isUnreachable = true;
    events.cut();
    await host.reaches('disconnected');
    stub.write(app, { channel: 'C1', threadTs: ts, text: `<@${app.botUserId}> in the thread`, isSilent: true });
    stub.write(app, { channel: 'D7', text: 'from a stranger', user: 'U7', isSilent: true });
    stub.write(app, { channel: 'C1', text: 'not for the agent', isSilent: true });
    app.isUnreachable = false;
    await host.message('in the thread');
    await host.message('from a stranger');
    assert.ok(!host.deliveries.some(({ text }) => text === 'not for the agent'));
  });

  test('a channel that Slack no longer shows is no obstacle for the others', async (t) => {
    const { app, host, events } = await connected(t);
    for (const channel of ['D1', 'D2']) stub.write(app, { channel, text: `in ${channel}` });
    await host.message('in D2');
    app.channels.delete('D1');
    stub.write(app, { channel: 'D2', text: 'missed', isSilent: true });
    stub.fail({ method: 'conversations.history', status: 429, retryAfterSeconds: 0 });
    events.cut();
    await host.message('missed');
  });

  test('what only a person can mend is an error with its reason', async (t) => {
    for (const [error, code] of [
      ['token_revoked', 'revoked'],
      ['invalid_auth', 'invalid_credentials'],
      ['account_inactive', 'revoked'],
      ['not_allowed_token_type', 'wrong_kind_of_credential'],
      ['missing_scope', 'missing_permission'],
    ] as const) {
      const { app, host, events } = await connected(t);
      app.refusal = error;
      events.cut();
      await host.reaches('error');
      const last = host.states.at(-1)!;
      assert.ok(last.status === 'error' && last.reason.code === code, JSON.stringify(last));
    }
    const { host, events } = await connected(t);
    events.disconnect('link_disabled');
    await host.reaches('error');
    assert.match(JSON.stringify(host.states.at(-1)), /Socket Mode is switched off/);
  });

  test('a socket address elsewhere is not opened', async (t) => {
    const app = stub.addApp();
    stub.fail({ method: 'apps.connections.open', body: '{"ok":true,"url":"wss://evil.example/link"}', times: 2 });
    const { host } = await connected(t, { app });
    assert.ok(host.states.some(({ status }) => status === 'disconnected'));
  });
});
