/** A platform's troubles for connections, and a person's changes to credentials. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConnectionState } from '@lodge/ports';
import { ChannelFailure } from '@lodge/ports';
import { unless, World } from './world.ts';
import type { SuiteContext } from './world.ts';

const ofCredentials = ['revoked', 'invalid_credentials', 'logged_out', 'wrong_kind_of_credential'];

export function describeTrouble(context: SuiteContext): void {
  const { abilities } = context;

  describe('trouble', () => {
    test('an unreachable platform is told, and what was written meanwhile comes after', async (t) => {
      const { account, host } = await World.connected(t, context);
      await account.misbehave({ do: 'unreachable' });
      await host.reaches('disconnected');
      await account.userWrites({ text: 'can you hear me?' });
      await sleep(200);
      assert.equal(host.attempts, 0);
      await account.misbehave({ do: 'mend' });
      await host.reaches('connected', 10_000);
      await host.message('can you hear me?', 10_000);
    });

    test('a platform that is away at the beginning is connected to later', async (t) => {
      const { account, host, begin } = await opened(t);
      await account.misbehave({ do: 'unreachable' });
      begin();
      await sleep(300);
      assert.ok(host.status !== 'connected' && host.status !== 'error', `${host.status}`);
      await account.misbehave({ do: 'mend' });
      await host.reaches('connected', 10_000);
    });

    const revokes = unless(abilities.revokes, 'nothing is revoked');
    test('revoked credentials are an error that a person must mend, and nothing more is tried', revokes, async (t) => {
      const { account, host } = await World.connected(t, context);
      await account.misbehave({ do: 'revoke' });
      await host.reaches('error', 10_000);
      assertOfCredentials(host.states.at(-1)!);
      await sleep(200);
      const calls = account.calls();
      await sleep(500);
      assert.equal(account.calls(), calls);
    });

    test('credentials that were revoked before are an error as well', revokes, async (t) => {
      const { account, host, begin } = await opened(t);
      await account.misbehave({ do: 'revoke' });
      begin();
      await host.reaches('error', 10_000);
      assertOfCredentials(host.states.at(-1)!);
    });

    const deaf = unless(abilities.deafWithinMs !== null, 'nothing proves delivery');
    test('a connection that is open and delivers nothing is noticed', deaf, async (t) => {
      const { account, host } = await World.connected(t, context);
      await account.misbehave({ do: 'deaf' });
      await account.userWrites({ text: 'are you deaf?' });
      await host.message('are you deaf?', abilities.deafWithinMs!);
      await host.reaches('connected');
    });

    test('a quiet connection is left alone', deaf, async (t) => {
      const { host } = await World.connected(t, context);
      await sleep(Math.min(abilities.deafWithinMs!, 3_000));
      const quiet = ['connecting', 'pending_pairing', 'connected'];
      assert.deepEqual(
        host.states.filter(({ status }) => !quiet.includes(status)),
        [],
      );
    });

    test('good credentials are verified; others are refused with a sentence', async (t) => {
      const world = await World.open(t, context);
      const { verify } = world.subject.platform;
      if (!verify) return;
      const { signal } = new AbortController();
      const verified = await verify(world.account.credentials, signal);
      assert.ok(verified.identity.id.length > 0 && verified.identity.name.length <= 200);
      assert.ok(verified.accountKey.length > 0);
      assert.ok(world.account.wrong.length > 0, 'the driver names wrong credentials');
      for (const wrong of world.account.wrong) {
        await assert.rejects(verify(wrong, signal), (error) => {
          assert.ok(error instanceof ChannelFailure, String(error));
          world.host.note('not verified', error);
          for (const secret of Object.values(wrong)) assert.ok(secret === '' || !error.message.includes(secret));
          return ofCredentials.includes(error.reason.code);
        });
      }
      const other = await verify((await world.subject.account()).credentials, signal);
      assert.notEqual(other.accountKey, verified.accountKey);
    });

    test('a connection that tells whose account it is says what its credentials were verified as', async (t) => {
      const { account, host, subject } = await World.connected(t, context);
      const { verify, tellsAccount } = subject.platform;
      if (tellsAccount !== true) return;
      const { accountKey } = await verify!(account.credentials, new AbortController().signal);
      const state = host.states.findLast(({ status }) => status === 'connected');
      assert.equal(state?.status === 'connected' && state.accountKey, accountKey);
    });

    test('a platform that is away is no verdict on credentials', async (t) => {
      const world = await World.open(t, context);
      const { verify } = world.subject.platform;
      if (!verify) return;
      await world.account.misbehave({ do: 'unreachable' });
      await assert.rejects(verify(world.account.credentials, AbortSignal.timeout(5_000)), (error) => {
        assert.ok(error instanceof ChannelFailure, String(error));
        world.host.note('not verified', error);
        return error.reason.code === 'platform_unreachable';
      });
    });
  });

  async function opened(t: Parameters<typeof World.open>[0]) {
    const world = await World.open(t, context);
    return { account: world.account, host: world.host, begin: () => world.begin() };
  }
}

function assertOfCredentials(state: ConnectionState): void {
  assert.ok(state.status === 'error' && ofCredentials.includes(state.reason.code), JSON.stringify(state));
}
