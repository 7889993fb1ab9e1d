/** What only Slack does: its sockets, its two events for one text, its threads, its words for what is wrong. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ChannelFailure, SendFailure } from '@lodge/ports';
import type { ChannelConnection } from '@lodge/ports';
import { manifestScopes, startSlackStub } from '@lodge/testkit/slack';
import type { SlackApp, SlackStub } from '@lodge/testkit/slack';
import { Kept, TestHost } from '../../conformance/host.ts';
import { targetOf } from '../../conformance/world.ts';
import { createSlack } from './slack.ts';

const backoff = { firstMs: 20, maxMs: 100, stableMs: 1_000 };
const timings = {
  backoff,
  helloTimeoutMs: 500,
  pingEveryMs: 100,
  deadAfterMs: 400,
  compareAfterMs: 60_000,
  lateMs: 100,
  lookAgainMs: 20,
};

describe('Slack', { timeout: 30_000 }, () => {
  let stub: SlackStub;
  before(async () => {
    stub = await startSlackStub({ retriesMs: [200, 400, 800] });
  });
  after(() => stub.close());

  const platform = (more: object = {}) =>
    createSlack({ apiUrl: stub.apiUrl, callTimeoutMs: 1_000, timings: { ...timings, ...more } });

  async function connected(
    t: TestContext,
    more: { readonly app?: SlackApp; readonly wantsUnaddressed?: boolean } = {},
  ) {
    const app = more.app ?? stub.addApp();
    const { appToken, botToken } = app;
    const host = new TestHost(new Kept({ appToken, botToken }));
    const connection: ChannelConnection = platform().connect(
      {
        agentId: 'one',
        credentials: { appToken, botToken },
        wantsUnaddressed: more.wantsUnaddressed ?? false,
        cursor: null,
      },
      host,
    );
    t.after(() => connection.close());
    await host.reaches('connected');
    return { app, host, connection, events: stub.events(app) };
  }

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
    assert.equal(events.unacknowledged, 0);
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

  describe('tokens are verified', () => {
    const verify = (credentials: Record<string, string>) =>
      platform().verify!(credentials, new AbortController().signal);
    const refused = async (credentials: Record<string, string>, code: string, words: RegExp) =>
      assert.rejects(verify(credentials), (error) => {
        assert.ok(error instanceof ChannelFailure);
        assert.equal(error.reason.code, code);
        assert.match(error.message, words);
        return true;
      });

    test('by their kind', async () => {
      const { appToken, botToken } = stub.addApp();
      await refused({ appToken, botToken: 'xoxp-1-2' }, 'wrong_kind_of_credential', /user token/);
      await refused({ appToken: botToken, botToken }, 'wrong_kind_of_credential', /this is a bot token/);
      await refused({ appToken, botToken: appToken }, 'wrong_kind_of_credential', /app-level token/);
      await refused({ appToken, botToken: `${botToken}\r\nx: y` }, 'invalid_credentials', /character/);
      await refused({}, 'wrong_kind_of_credential', /appToken/);
    });

    test('by their scopes, which are named', async () => {
      const { appToken, botToken } = stub.addApp(
        manifestScopes.filter((scope) => !['files:read', 'im:history'].includes(scope)),
      );
      await refused({ appToken, botToken }, 'missing_permission', /files:read, im:history/);
      const other = stub.addApp();
      stub.fail({
        method: 'apps.connections.open',
        body: '{"ok":false,"error":"missing_scope","needed":"connections:write"}',
      });
      await refused({ appToken: other.appToken, botToken: other.botToken }, 'missing_permission', /connections:write/);
    });

    test('by their app', async () => {
      const [one, two] = [stub.addApp(), stub.addApp()];
      await refused({ appToken: one.appToken, botToken: two.botToken }, 'wrong_kind_of_credential', /two Slack apps/);
    });

    test('and good ones say who the agent is', async () => {
      const { appToken, botToken, teamId, botUserId } = stub.addApp();
      assert.deepEqual(await verify({ appToken, botToken }), {
        identity: { id: botUserId, name: 'agent' },
        accountKey: `${teamId}/${botUserId}`,
      });
    });
  });

  describe('answers', () => {
    const text = (given: string, format: string | null = 'markdown') =>
      ({ kind: 'text', text: given, format }) as const;

    test('one whose outcome was unclear is looked up, and found by its key', async (t) => {
      const { app, host, connection } = await connected(t);
      stub.write(app, { channel: 'D1', text: 'hello' });
      const target = targetOf(await host.message('hello'));
      stub.fail({ method: 'chat.postMessage', isLost: true });
      const { id } = await connection.send(target, text('once'), 'key-1', AbortSignal.timeout(2_000));
      assert.deepEqual(
        app.sent.map(({ ts }) => ts),
        [id],
      );
      stub.fail({ method: 'chat.postMessage', isCut: true });
      await assert.rejects(
        connection.send(target, text('never'), 'key-2', AbortSignal.timeout(2_000)),
        (error) => error instanceof SendFailure && error.outcome === 'unknown',
      );
      assert.equal(app.sent.length, 1);
    });

    test('where Slack does not take Markdown, its own marks are sent', async (t) => {
      const { app, host, connection } = await connected(t);
      stub.write(app, { channel: 'D1', text: 'hello' });
      const target = targetOf(await host.message('hello'));
      stub.fail({ method: 'chat.postMessage', error: 'invalid_blocks' });
      await connection.send(
        target,
        text('# A\n**b** [c](https://d.example/?e&f) `**g**`'),
        'k',
        AbortSignal.timeout(2_000),
      );
      assert.equal(app.sent[0]!.text, '*A*\n*b* <https://d.example/?e&amp;f|c> `**g**`');
    });

    test('a reaction shows the work on a direct message, and goes with the answer', async (t) => {
      const { app, host, connection } = await connected(t);
      stub.write(app, { channel: 'D1', text: 'hello' });
      const target = targetOf(await host.message('hello'));
      await connection.typing(target, AbortSignal.timeout(2_000));
      await connection.typing(target, AbortSignal.timeout(2_000));
      await connection.send(target, text('there'), 'k', AbortSignal.timeout(2_000));
      await host.until(() => app.reactions.length === 2, 'the reaction to go');
      assert.deepEqual(
        app.reactions.map(({ isAdded }) => isAdded),
        [true, false],
      );
    });

    test('a refusal is told from what may be tried again', async (t) => {
      const { app, host, connection } = await connected(t);
      stub.write(app, { channel: 'D1', text: 'hello' });
      const target = targetOf(await host.message('hello'));
      for (const [error, outcome] of [
        ['is_archived', 'refused'],
        ['channel_not_found', 'refused'],
        ['ratelimited', 'retry'],
        ['token_revoked', 'retry'],
        ['fatal_error', 'unknown'],
      ]) {
        stub.fail({ method: 'chat.postMessage', error: error! });
        await assert.rejects(
          connection.send(target, text('x'), 'k', AbortSignal.timeout(2_000)),
          (failure) => failure instanceof SendFailure && failure.outcome === outcome,
          error,
        );
      }
    });
  });

  test('a file is fetched from Slack alone, and a page to sign in is no file', async (t) => {
    const { app, host, connection } = await connected(t);
    const content = Buffer.from('abc');
    stub.write(app, { channel: 'D1', text: 'file', files: [{ name: 'a.txt', mimetype: 'text/plain', content }] });
    const [file] = (await host.message('file')).files;
    const { signal } = new AbortController();
    stub.fail({ method: 'file', body: 'http://localhost:9/elsewhere' });
    await assert.rejects(connection.open(file!.ref, 100, signal), /not lie at Slack/);
    app.scopes.delete('files:read');
    await assert.rejects(connection.open(file!.ref, 100, signal));
  });
});
