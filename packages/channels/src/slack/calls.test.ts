/** Tokens, answers and files of Slack: what its Web API says, in words that a person can act on. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { ChannelFailure, SendFailure } from '@lodge/ports';
import { manifestScopes, startSlackStub } from '@lodge/testkit/slack';
import type { SlackStub } from '@lodge/testkit/slack';
import { targetOf } from '../../conformance/world.ts';
import { connectedTo, platformAt } from './testing/world.ts';

describe("Slack's Web API", { timeout: 30_000 }, () => {
  let stub: SlackStub;
  before(async () => {
    stub = await startSlackStub();
  });
  after(() => stub.close());

  const platform = () => platformAt(stub);
  const connected = (t: TestContext, more: Parameters<typeof connectedTo>[2] = {}) => connectedTo(stub, t, more);

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
