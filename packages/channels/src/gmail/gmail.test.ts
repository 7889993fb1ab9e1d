/** The adapter at a stub of Google: what the suite of all platforms does not ask. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { gmailScope, startGoogleStub } from '@lodge/testkit/google';
import type { GoogleStub, Mail, StubMailbox } from '@lodge/testkit/google';
import type { ChannelConnection, InboundMessage, OutboundPart, Platform } from '@lodge/ports';
import { TestHost, Kept } from '../../conformance/host.ts';
import { targetOf } from '../../conformance/world.ts';
import { createGmail } from './index.ts';

const timings = {
  pollMs: 30,
  probeMs: 60_000,
  callMs: 2_000,
  mailMs: 5_000,
  keepMs: 0,
  backoff: { firstMs: 20, maxMs: 100, stableMs: 200 },
};

let google: GoogleStub;
let platform: Platform;
let mailboxes = 0;
let address = '';
let mailbox: StubMailbox;

before(async () => {
  google = await startGoogleStub();
  const { clientId, clientSecret } = google.client;
  const endpoints = { api: `${google.url}/`, consent: `${google.url}/o/oauth2/v2/auth`, token: `${google.url}/token` };
  platform = createGmail({ clientId, clientSecret, endpoints, timings });
});
after(() => google.close());
beforeEach(() => {
  mailboxes += 1;
  address = `agent-${mailboxes}@example.com`;
  mailbox = google.mailbox(address);
  google.clearFaults();
});

interface World {
  readonly host: TestHost;
  readonly connection: ChannelConnection;
}

/** `kept`: what an earlier connection left. */
function begin(t: TestContext, kept = new Kept({ refreshToken: google.consent(address) })): World {
  const host = new TestHost(kept);
  const account = { agentId: 'a', credentials: kept.credentials, wantsUnaddressed: false, cursor: kept.cursor };
  const connection = platform.connect(account, host);
  t.after(() => connection.close());
  return { host, connection };
}

async function connected(t: TestContext, kept?: Kept): Promise<World> {
  const world = begin(t, kept);
  await world.host.reaches('connected');
  return world;
}

const writeTo = (mail: Partial<Mail>) => mailbox.deliver({ from: 'Ann <ann@example.org>', subject: '', ...mail });
const say = (text: string): OutboundPart => ({ kind: 'text', text, format: null });
const answer = (connection: ChannelConnection, to: InboundMessage, text: string, key = 'key-1') =>
  connection.send(targetOf(to), say(text), key, AbortSignal.timeout(5_000));

describe('mail that comes in', () => {
  test('begins a thread with its subject, and goes on in it with the new words alone', async (t) => {
    const { host } = await connected(t);
    const first = writeTo({ subject: 'Tomorrow', text: 'Rain?\n-- \nAnn' });
    const message = await host.message('Subject: Tomorrow\n\nRain?');
    assert.equal(message.conversation.id, `${first.threadId}/ann@example.org`);
    assert.deepEqual(message.sender, { id: 'ann@example.org', name: 'Ann', isBot: false });
    writeTo({
      subject: 'Re: Tomorrow',
      inReplyTo: first.messageId,
      text: 'And snow?\n\nOn 22 Nov 2026 Agent wrote:\n> Yes.',
    });
    assert.equal((await host.message('And snow?')).conversation.id, message.conversation.id);
  });

  test('of two persons in one thread is of two conversations', async (t) => {
    const { host } = await connected(t);
    const first = writeTo({ text: 'a secret' });
    const { conversation } = await host.message('a secret');
    writeTo({ from: 'eve@evil.example', references: [first.messageId], text: 'tell me' });
    assert.notEqual((await host.message('tell me')).conversation.id, conversation.id);
  });

  test('from before the mailbox was connected is left alone', async (t) => {
    writeTo({ text: 'old' });
    const { host } = await connected(t);
    writeTo({ text: 'new' });
    await host.message('new');
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
      await host.message('this');
      assert.equal(host.deliveries.length, 1);
    });
  }

  test('of our own is left alone, in whatever folder it is', async (t) => {
    const { host } = await connected(t);
    mailbox.deliver({ from: `Me <${address}>`, text: 'to myself' });
    mailbox.deliver({ from: 'bob@example.org', text: 'sent by me' }, ['INBOX', 'SENT']);
    mailbox.deliver({ from: 'bob@example.org', text: 'spam' }, ['SPAM', 'INBOX']);
    mailbox.deliverRaw('no mail at all');
    writeTo({ text: 'this' });
    await host.message('this');
    assert.equal(host.deliveries.length, 1);
  });

  test('is found by date when the history is gone, each mail once', async (t) => {
    const kept = new Kept({ refreshToken: google.consent(address) });
    const first = await connected(t, kept);
    writeTo({ text: 'before' });
    await first.host.message('before');
    await first.connection.close();
    for (let at = 0; at < 60; at += 1) writeTo({ text: `away ${at}` });
    mailbox.forgetHistory();
    const { host } = await connected(t, kept);
    await host.message('away 59');
    writeTo({ text: 'after' });
    await host.message('after');
    const texts = Array.from({ length: 60 }, (_, at) => `away ${at}`);
    assert.deepEqual(
      kept.messages.map(({ text }) => text),
      ['before', ...texts, 'after'],
    );
  });

  test('of another mailbox than before begins anew', async (t) => {
    const kept = new Kept({ refreshToken: google.consent(address) });
    kept.cursor = { address: 'other@example.com', historyId: '1', seenAtMs: 1 };
    writeTo({ text: 'old' });
    const { host } = await connected(t, kept);
    writeTo({ text: 'new' });
    await host.message('new');
    assert.equal(kept.messages.length, 1);
  });

  test('is in its order over pages of a history that repeats itself', async (t) => {
    const { host } = await connected(t);
    google.fault({ of: 'GET history', does: 503, times: 3 });
    mailbox.duplicatesHistory = true;
    for (let at = 0; at < 130; at += 1) writeTo({ text: `number ${at}` });
    await host.message('number 129', 10_000);
    assert.deepEqual(
      host.deliveries.map(({ text }) => text),
      Array.from({ length: 130 }, (_, at) => `number ${at}`),
    );
  });

  test('moves the place that is kept only with what is committed', async (t) => {
    const { host } = await connected(t);
    const { cursor } = host.kept;
    host.behaviour = 'reject';
    writeTo({ text: 'later' });
    await host.until(() => host.attempts >= 2, 'another try');
    assert.deepEqual(host.kept.cursor, cursor);
    host.behaviour = 'commit';
    await host.message('later');
    assert.notDeepEqual(host.kept.cursor, cursor);
  });
});

describe('an answer', () => {
  test('is a mail in the thread that no machine answers, and the mail it answers is labelled', async (t) => {
    const { host, connection } = await connected(t);
    const mail = writeTo({
      subject: 'Tomorrow',
      text: 'Rain?',
      headers: ['Reply-To: eve@evil.example'],
      to: `${address}, bob@example.org`,
    });
    await answer(
      connection,
      await host.message('Subject: Tomorrow\n\nRain?'),
      '**Yes**\n\n<b>no</b> ![x](https://evil.example/x)',
    );
    const [sent] = mailbox.sent;
    assert.equal(sent!.threadId, mail.threadId);
    const { headers, raw } = sent!;
    assert.equal(headers['to'], 'ann@example.org');
    assert.equal(headers['from'], address);
    assert.equal(headers['subject'], 'Re: Tomorrow');
    assert.equal(headers['in-reply-to'], mail.messageId);
    assert.equal(headers['references'], mail.messageId);
    assert.equal(headers['auto-submitted'], 'auto-replied');
    assert.equal(headers['message-id'], '<lodge.key-1@example.com>');
    assert.equal(headers['cc'], undefined);
    assert.ok(raw.includes('<strong>Yes</strong>') && raw.includes('&lt;b&gt;no') && !raw.includes('<img'), raw);
    await host.until(() => mailbox.isLabelled(mail.id, 'Lodge/answered'), 'the label');
    assert.ok(mailbox.messages.get(mail.id)!.labelIds.has('UNREAD'));
  });

  test('that is answered goes on in the same conversation', async (t) => {
    const { host, connection } = await connected(t);
    writeTo({ text: 'one' });
    const first = await host.message('one');
    await answer(connection, first, 'yes?');
    writeTo({ text: 'two', inReplyTo: mailbox.sent[0]!.headers['message-id']! });
    assert.equal((await host.message('two')).conversation.id, first.conversation.id);
  });

  test('of the same key is sent once, whatever Gmail made of its Message-ID', async (t) => {
    const { host, connection } = await connected(t);
    writeTo({ text: 'one' });
    const message = await host.message('one');
    const first = await answer(connection, message, 'yes');
    assert.deepEqual(await answer(connection, message, 'yes'), first);
    const stored = mailbox.messages.get(mailbox.sent[0]!.id)!;
    mailbox.messages.set(stored.id, {
      ...stored,
      raw: stored.raw.replace('Message-ID: <lodge.key-1', 'Message-ID: <other'),
    });
    assert.deepEqual(await answer(connection, message, 'yes'), first);
    assert.equal(mailbox.sent.length, 1);
    await answer(connection, message, 'and another', 'key-2');
    assert.equal(mailbox.sent.length, 2);
  });

  test('to a thread that was deleted begins another, once', async (t) => {
    const { host, connection } = await connected(t);
    const mail = writeTo({ text: 'one' });
    const message = await host.message('one');
    mailbox.messages.delete(mail.id);
    const first = await answer(connection, message, 'yes');
    assert.deepEqual(await answer(connection, message, 'yes'), first);
    assert.equal(mailbox.sent.length, 1);
  });

  test('to no mail goes to the conversation, as nobody asked for it', async (t) => {
    const { host, connection } = await connected(t);
    writeTo({ subject: 'Reports', text: 'Daily, please.' });
    const message = await host.message('Subject: Reports\n\nDaily, please.');
    await connection.send({ ...targetOf(message), replyTo: null }, say('Today.'), 'k', AbortSignal.timeout(5_000));
    const { headers, threadId } = mailbox.sent[0]!;
    assert.equal(`${threadId}/${headers['to']}`, message.conversation.id);
    assert.equal(headers['subject'], 'Re: Reports');
  });

  test('is refused, or tried again, as Gmail says', async (t) => {
    const { host, connection } = await connected(t);
    writeTo({ text: 'one' });
    const message = await host.message('one');
    const outcomes: readonly (readonly [Parameters<GoogleStub['fault']>[0]['does'], string])[] = [
      ['rate', 'retry'],
      ['quota', 'retry'],
      [400, 'refused'],
      [413, 'refused'],
      [503, 'unknown'],
      ['drop', 'unknown'],
    ];
    for (const [does, outcome] of outcomes) {
      google.fault({ of: 'POST messages/send', mailbox: address, does });
      await assert.rejects(answer(connection, message, 'yes'), { name: 'SendFailure', outcome }, String(does));
    }
    google.fault({ of: 'GET threads', mailbox: address, does: 503 });
    await assert.rejects(answer(connection, message, 'yes'), { outcome: 'retry' });
    assert.equal(mailbox.sent.length, 0);
    await answer(connection, message, 'yes');
  });
});

describe('consent', () => {
  test('a new refresh token is kept before it is used, and used from then on', async (t) => {
    google.oauth.rotates = true;
    t.after(() => {
      google.oauth.rotates = false;
    });
    const { host } = await connected(t);
    const [first] = google.oauth.refreshTokensOf(address);
    assert.equal(host.kept.credentials['refreshToken'], first);
    google.oauth.expireAccess(address);
    writeTo({ text: 'one' });
    await host.message('one');
    assert.deepEqual([host.kept.credentials['refreshToken']], google.oauth.refreshTokensOf(address));
    assert.notEqual(host.kept.credentials['refreshToken'], first);
  });

  test('a new refresh token that cannot be kept is kept later, and nothing is done meanwhile', async (t) => {
    google.oauth.rotates = true;
    t.after(() => {
      google.oauth.rotates = false;
    });
    const kept = new Kept({ refreshToken: google.consent(address) });
    const host = new TestHost(kept);
    let failures = 3;
    const keep = host.keep.bind(host);
    host.keep = async (credentials) => {
      failures -= 1;
      if (failures >= 0) throw new Error('the database is away');
      await keep(credentials);
    };
    const account = { agentId: 'a', credentials: kept.credentials, wantsUnaddressed: false, cursor: null };
    const connection = platform.connect(account, host);
    t.after(() => connection.close());
    await host.reaches('connected');
    assert.deepEqual([kept.credentials['refreshToken']], google.oauth.refreshTokensOf(address));
    assert.equal(google.calls.filter((call) => call === `POST token ${address}`).length, 1);
  });

  test('that ended is an error which names the usual causes', async (t) => {
    const { host } = await connected(t);
    google.oauth.revoke(address);
    await host.reaches('error');
    const state = host.states.at(-1)!;
    assert.ok(state.status === 'error' && state.reason.code === 'revoked');
    for (const cause of ['7 days', 'access was removed', 'password']) assert.ok(state.reason.message.includes(cause));
  });

  test('that is missing waits for a person, without a call', async (t) => {
    const { host } = begin(t, new Kept({}));
    await host.reaches('pending_pairing');
    await sleep(100);
    assert.equal(google.callsOf(address), 0);
  });

  test('without the permission is an error', async (t) => {
    const { host } = begin(t, new Kept({ refreshToken: google.consent(address, ['openid']) }));
    await host.reaches('error');
    const state = host.states.at(-1)!;
    assert.ok(state.status === 'error' && state.reason.code === 'missing_permission');
    assert.notEqual(gmailScope, 'openid');
  });
});

describe('trouble', () => {
  test('one look that fails is no news; a limit waits as long as Google says', async (t) => {
    const { host } = await connected(t);
    google.fault({ of: 'GET history', mailbox: address, does: 'rate', retryAfterSeconds: 1 });
    await sleep(150);
    const calls = google.callsOf(address);
    await sleep(500);
    assert.equal(google.callsOf(address), calls);
    writeTo({ text: 'through' });
    await host.message('through');
    assert.deepEqual(
      host.states.map(({ status }) => status),
      ['connecting', 'connected'],
    );
  });

  test('a call without an answer ends in time, and a redirect is not followed', async (t) => {
    const { host } = await connected(t);
    google.fault({ of: 'GET history', mailbox: address, does: 'hang' });
    google.fault({ of: 'GET messages/', mailbox: address, does: 302 });
    writeTo({ text: 'late' });
    await host.message('late', 8_000);
  });

  test('an idle mailbox costs one call of 2 units a look', async (t) => {
    const { host } = await connected(t);
    await sleep(100);
    const before = google.callsOf(address);
    const looks = google.calls.filter((call) => call === `GET history ${address}`).length;
    await sleep(400);
    const after = google.calls.filter((call) => call === `GET history ${address}`).length;
    assert.ok(after > looks);
    assert.equal(google.callsOf(address) - before, after - looks);
    assert.equal(host.attempts, 0);
  });
});
