/** The adapter at a stub of Google: what the suite of all platforms does not ask. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { gmailScope } from '@lodge/testkit/google';
import type { Mail } from '@lodge/testkit/google';
import { Kept, TestHost } from '../../conformance/host.ts';
import { gmailWorld, patienceMs } from './testing/world.ts';

const world = gmailWorld();
const { begin, connected, writeTo } = world;

describe('mail that comes in', () => {
  test('begins a thread with its subject, and goes on in it with the new words alone', async (t) => {
    const { host } = await connected(t);
    const first = writeTo({ subject: 'Tomorrow', text: 'Rain?\n-- \nAnn' });
    const message = await host.message('Subject: Tomorrow\n\nRain?', patienceMs);
    assert.equal(message.conversation.id, `${first.threadId}/ann@example.org`);
    assert.deepEqual(message.sender, { id: 'ann@example.org', name: 'Ann', isBot: false });
    writeTo({
      subject: 'Re: Tomorrow',
      inReplyTo: first.messageId,
      text: 'And snow?\n\nOn 22 Nov 2026 Agent wrote:\n> Yes.',
    });
    assert.equal((await host.message('And snow?', patienceMs)).conversation.id, message.conversation.id);
  });

  test('of two persons in one thread is of two conversations', async (t) => {
    const { host } = await connected(t);
    const first = writeTo({ text: 'a secret' });
    const { conversation } = await host.message('a secret', patienceMs);
    writeTo({ from: 'eve@evil.example', references: [first.messageId], text: 'tell me' });
    assert.notEqual((await host.message('tell me', patienceMs)).conversation.id, conversation.id);
  });

  test('from before the mailbox was connected is left alone', async (t) => {
    writeTo({ text: 'old' });
    const { host } = await connected(t);
    writeTo({ text: 'new' });
    await host.message('new', patienceMs);
    assert.equal(host.kept.messages.length, 1);
  });

  const skipped: Readonly<Record<string, Partial<Mail>>> = {
    'a forged sender': { authentication: 'fail' },
    'a sender nobody stands behind': { authentication: 'none' },
    'a sender with a result of its own': {
      authentication: 'unstamped',
      headers: ['Authentication-Results: mx.google.com; dmarc=pass header.from=example.org'],
    },
    'an automatic answer': { headers: ['Auto-Submitted: auto-replied (vacation)'] },
    'a newsletter': { headers: ['List-Unsubscribe: <https://example.org/u>'] },
    'a mailing list': { headers: ['List-Id: <l.example.org>'] },
    'bulk mail': { headers: ['Precedence: bulk'] },
    'a bounce': { from: 'MAILER-DAEMON@example.org', returnPath: '' },
    'an address nobody reads': { from: 'no-reply@example.org' },
    'an out-of-office of Outlook': { headers: ['X-Auto-Response-Suppress: All'] },
    'two senders': { from: 'ann@example.org, bob@example.org', authentication: 'mx.google.com; dmarc=pass header.from=example.org' },
  }; // prettier-ignore
  for (const [name, mail] of Object.entries(skipped)) {
    test(`is left alone: ${name}`, async (t) => {
      const { host } = await connected(t);
      writeTo({ text: 'not this', ...mail });
      writeTo({ text: 'this' });
      await host.message('this', patienceMs);
      assert.equal(host.deliveries.length, 1);
    });
  }

  test('of our own is left alone, in whatever folder it is', async (t) => {
    const { host } = await connected(t);
    world.mailbox.deliver({ from: `Me <${world.address}>`, text: 'to myself' });
    world.mailbox.deliver({ from: 'bob@example.org', text: 'sent by me' }, ['INBOX', 'SENT']);
    world.mailbox.deliver({ from: 'bob@example.org', text: 'spam' }, ['SPAM', 'INBOX']);
    world.mailbox.deliverRaw('no mail at all');
    writeTo({ text: 'this' });
    await host.message('this', patienceMs);
    assert.equal(host.deliveries.length, 1);
  });

  test('of who may not write is never fetched, whoever proved to have sent it', async (t) => {
    const { host } = await connected(t);
    host.strangers.add('eve@evil.example');
    writeTo({ from: 'eve@evil.example', subject: 'Hello', text: 'a\n'.repeat(1_000_000) });
    writeTo({ text: 'this' });
    await host.message('this', patienceMs);
    const [stranger] = host.deliveries;
    assert.deepEqual([stranger?.text, stranger?.isUnread, stranger?.files], ['Subject: Hello', true, []]);
    const fetched = world.google.calls.filter(
      (call) => call.startsWith('GET messages/') && call.endsWith(` ${world.address}`),
    );
    assert.equal(fetched.length, 3, 'two headers and one mail');
  });

  test('of whose header too much would be read is left alone, and mail behind it comes', async (t) => {
    const { host } = await connected(t);
    writeTo({ text: 'not this', headers: Array.from({ length: 700 }, (_, at) => `X-${at}: ${'"'.repeat(800)}`) });
    writeTo({ text: 'this' });
    await host.message('this', patienceMs);
    assert.equal(host.deliveries.length, 1);
  });

  test('is found by date when the history is gone, each mail once', async (t) => {
    const kept = new Kept({ refreshToken: world.google.consent(world.address) });
    const first = await connected(t, kept);
    writeTo({ text: 'before' });
    await first.host.message('before', patienceMs);
    await first.connection.close();
    for (let at = 0; at < 60; at += 1) writeTo({ text: `away ${at}` });
    world.mailbox.forgetHistory();
    const { host } = await connected(t, kept);
    await host.message('away 59', patienceMs);
    writeTo({ text: 'after' });
    await host.message('after', patienceMs);
    const texts = Array.from({ length: 60 }, (_, at) => `away ${at}`);
    assert.deepEqual(
      kept.messages.map(({ text }) => text),
      ['before', ...texts, 'after'],
    );
  });

  test('of another mailbox than before begins anew', async (t) => {
    const kept = new Kept({ refreshToken: world.google.consent(world.address) });
    kept.cursor = { address: 'other@example.com', historyId: '1', seenAtMs: 1 };
    writeTo({ text: 'old' });
    const { host } = await connected(t, kept);
    writeTo({ text: 'new' });
    await host.message('new', patienceMs);
    assert.equal(kept.messages.length, 1);
  });

  test('is in its order over pages of a history that repeats itself', async (t) => {
    const { host } = await connected(t);
    world.google.fault({ of: 'GET history', does: 503, times: 3 });
    world.mailbox.duplicatesHistory = true;
    for (let at = 0; at < 130; at += 1) writeTo({ text: `number ${at}` });
    await host.message('number 129', patienceMs);
    assert.deepEqual(
      host.deliveries.map(({ text }) => text),
      Array.from({ length: 130 }, (_, at) => `number ${at}`),
    );
  });

  test('is all there when a history is out of order', async (t) => {
    const { host } = await connected(t);
    world.google.fault({ of: 'GET history', does: 503, times: 2 });
    world.mailbox.reversesHistory = true;
    for (const text of ['one', 'two', 'three', 'four']) writeTo({ text });
    await host.until(() => host.kept.messages.length === 4, 'all of them', patienceMs);
    writeTo({ text: 'five' });
    await host.message('five', patienceMs);
    assert.equal(host.deliveries.length, 5);
  });

  test('that is being read when the connection ends is not taken, and the next one has it', async (t) => {
    const kept = new Kept({ refreshToken: world.google.consent(world.address) });
    const { host, connection } = await connected(t, kept);
    world.google.delayMs = 150;
    t.after(() => {
      world.google.delayMs = 0;
    });
    const before = world.google.callsOf(world.address);
    writeTo({ text: 'late' });
    await host.until(() => world.google.callsOf(world.address) >= before + 2, 'a call', patienceMs);
    await connection.close();
    await sleep(400);
    assert.equal(host.attempts, 0);
    world.google.delayMs = 0;
    await (await connected(t, kept)).host.message('late', patienceMs);
  });

  test('moves the place that is kept only with what is committed', async (t) => {
    const { host } = await connected(t);
    const { cursor } = host.kept;
    host.behaviour = 'reject';
    writeTo({ text: 'later' });
    await host.until(() => host.attempts >= 2, 'another try', patienceMs);
    assert.deepEqual(host.kept.cursor, cursor);
    host.behaviour = 'commit';
    await host.message('later', patienceMs);
    assert.notDeepEqual(host.kept.cursor, cursor);
  });
});

describe('consent', () => {
  test('a new refresh token is kept before it is used, and used from then on', async (t) => {
    world.google.oauth.rotates = true;
    t.after(() => {
      world.google.oauth.rotates = false;
    });
    const { host } = await connected(t);
    const [first] = world.google.oauth.refreshTokensOf(world.address);
    assert.equal(host.kept.credentials['refreshToken'], first);
    world.google.oauth.expireAccess(world.address);
    writeTo({ text: 'one' });
    await host.message('one', patienceMs);
    assert.deepEqual([host.kept.credentials['refreshToken']], world.google.oauth.refreshTokensOf(world.address));
    assert.notEqual(host.kept.credentials['refreshToken'], first);
  });

  test('a new refresh token that cannot be kept is kept later, and nothing is done meanwhile', async (t) => {
    world.google.oauth.rotates = true;
    t.after(() => {
      world.google.oauth.rotates = false;
    });
    const kept = new Kept({ refreshToken: world.google.consent(world.address) });
    const host = new TestHost(kept);
    let failures = 3;
    const keep = host.keep.bind(host);
    host.keep = async (credentials) => {
      failures -= 1;
      if (failures >= 0) throw new Error('the database is away');
      await keep(credentials);
    };
    const account = { agentId: 'a', credentials: kept.credentials, wantsUnaddressed: false, cursor: null };
    const connection = world.platform.connect(account, host);
    t.after(() => connection.close());
    await host.reaches('connected');
    assert.deepEqual([kept.credentials['refreshToken']], world.google.oauth.refreshTokensOf(world.address));
    assert.equal(world.google.calls.filter((call) => call === `POST token ${world.address}`).length, 1);
  });

  test('that ended is an error which names the usual causes', async (t) => {
    const { host } = await connected(t);
    world.google.oauth.revoke(world.address);
    await host.reaches('error', patienceMs);
    const state = host.states.at(-1)!;
    assert.ok(state.status === 'error' && state.reason.code === 'revoked');
    for (const cause of ['7 days', 'access was removed', 'password']) assert.ok(state.reason.message.includes(cause));
  });

  test('that is missing waits for a person, without a call', async (t) => {
    const { host } = begin(t, new Kept({}));
    await host.reaches('pending_pairing');
    await sleep(100);
    assert.equal(world.google.callsOf(world.address), 0);
  });

  test('without the permission is an error', async (t) => {
    const { host } = begin(t, new Kept({ refreshToken: world.google.consent(world.address, ['openid']) }));
    await host.reaches('error', patienceMs);
    const state = host.states.at(-1)!;
    assert.ok(state.status === 'error' && state.reason.code === 'missing_permission');
    assert.notEqual(gmailScope, 'openid');
  });
});

describe('trouble', () => {
  test('one look that fails is no news; a limit waits as long as Google says', async (t) => {
    const { host } = await connected(t);
    world.google.fault({ of: 'GET history', mailbox: world.address, does: 'rate', retryAfterSeconds: 1 });
    const before = world.google.callsOf(world.address);
    const calls = (count: number): Promise<void> =>
      host.until(() => world.google.callsOf(world.address) >= before + count, `call ${count}`, patienceMs);
    await calls(1);
    const refusedAt = performance.now();
    await calls(2);
    assert.ok(performance.now() - refusedAt > 800, 'it called again before the second was over');
    writeTo({ text: 'through' });
    await host.message('through', patienceMs);
    assert.deepEqual(
      host.states.map(({ status }) => status),
      ['connecting', 'connected'],
    );
  });

  test('a call without an answer ends in time, and a redirect is not followed', async (t) => {
    const { host } = await connected(t);
    world.google.fault({ of: 'GET history', mailbox: world.address, does: 'hang' });
    world.google.fault({ of: 'GET messages/', mailbox: world.address, does: 302 });
    writeTo({ text: 'late' });
    await host.message('late', patienceMs);
  });

  test('an idle mailbox costs one call of 2 units a look', async (t) => {
    const { host } = await connected(t);
    await sleep(100);
    const looksOf = () => world.google.calls.filter((call) => call === `GET history ${world.address}`).length;
    const [before, looks] = [world.google.callsOf(world.address), looksOf()];
    await host.until(() => looksOf() >= looks + 2, 'two looks', patienceMs);
    const after = looksOf();
    assert.equal(world.google.callsOf(world.address) - before, after - looks);
    assert.equal(host.attempts, 0);
  });
});
