/** Messages, answers, files and tokens of Discord: what its REST API says, in words that a person can act on. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { ChannelFailure, SendFailure } from '@lodge/ports';
import { startDiscordStub } from '@lodge/testkit/discord';
import type { DiscordStub } from '@lodge/testkit/discord';
import { targetOf } from '../../conformance/world.ts';
import { InvalidRequests } from './invalid.ts';
import { connectedAt, dm, platformAt, roomOf } from './testing/world.ts';

describe("Discord's REST API", { timeout: 30_000 }, () => {
  let stub: DiscordStub;
  before(async () => {
    stub = await startDiscordStub();
  });
  after(() => stub.close());

  const platform = () => platformAt(stub);
  const connected = (t: TestContext) => connectedAt(stub, t);

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
