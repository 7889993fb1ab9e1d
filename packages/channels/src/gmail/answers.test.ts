/** Answers as mail: what the suite of all platforms does not ask. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from '@lodge/testkit/google';
import { targetOf } from '../../conformance/world.ts';
import { gmailWorld, patienceMs, say } from './testing/world.ts';

const world = gmailWorld();
const { connected, writeTo, answer } = world;

describe('an answer', () => {
  test('is a mail in the thread that no machine answers, and the mail it answers is labelled', async (t) => {
    const { host, connection } = await connected(t);
    const mail = writeTo({
      subject: 'Tomorrow',
      text: 'Rain?',
      headers: ['Reply-To: eve@evil.example'],
      to: `${world.address}, bob@example.org`,
    });
    await answer(
      connection,
      await host.message('Subject: Tomorrow\n\nRain?', patienceMs),
      '**Yes**\n\n<b>no</b> ![x](https://evil.example/x)',
    );
    const [sent] = world.mailbox.sent;
    assert.equal(sent!.threadId, mail.threadId);
    const { headers, raw } = sent!;
    assert.equal(headers['to'], 'ann@example.org');
    assert.equal(headers['from'], world.address);
    assert.equal(headers['subject'], 'Re: Tomorrow');
    assert.equal(headers['in-reply-to'], mail.messageId);
    assert.equal(headers['references'], mail.messageId);
    assert.equal(headers['auto-submitted'], 'auto-replied');
    assert.equal(headers['message-id'], '<lodge.key-1@example.com>');
    assert.equal(headers['cc'], undefined);
    assert.ok(raw.includes('<strong>Yes</strong>') && raw.includes('&lt;b&gt;no') && !raw.includes('<img'), raw);
    await host.until(() => world.mailbox.isLabelled(mail.id, 'Lodge/answered'), 'the label', patienceMs);
    assert.ok(world.mailbox.messages.get(mail.id)!.labelIds.has('UNREAD'));
  });

  test('has all mail of its sender labelled that it answers, and none of others', async (t) => {
    const { host, connection } = await connected(t);
    const first = writeTo({ text: 'one' });
    const eve = writeTo({ from: 'eve@evil.example', references: [first.messageId], text: 'and I' });
    const second = writeTo({ references: [first.messageId], text: 'two' });
    const message = await host.message('two', patienceMs);
    const third = writeTo({ references: [first.messageId], text: 'three' });
    world.google.fault({ of: `POST messages/${second.id}/modify`, does: 'rate', retryAfterSeconds: 0 });
    await answer(connection, message, 'yes');
    const isLabelled = ({ id }: { readonly id: string }): boolean => world.mailbox.isLabelled(id, 'Lodge/answered');
    await host.until(() => isLabelled(first) && isLabelled(second), 'labels', patienceMs);
    assert.ok(!isLabelled(eve) && !isLabelled(third));
    const labellings = (): number =>
      world.google.calls.filter((call) => /^POST messages\/\w+\/modify/.test(call)).length;
    const before = labellings();
    await answer(connection, await host.message('three', patienceMs), 'yes again', 'key-2');
    await host.until(() => isLabelled(third), 'the label', patienceMs);
    await sleep(100);
    assert.equal(labellings(), before + 1);
  });

  test('that is answered goes on in the same conversation', async (t) => {
    const { host, connection } = await connected(t);
    writeTo({ text: 'one' });
    const first = await host.message('one', patienceMs);
    await answer(connection, first, 'yes?');
    writeTo({ text: 'two', inReplyTo: world.mailbox.sent[0]!.headers['message-id']! });
    assert.equal((await host.message('two', patienceMs)).conversation.id, first.conversation.id);
  });

  test('of the same key is sent once, whatever Gmail made of its Message-ID', async (t) => {
    const { host, connection } = await connected(t);
    writeTo({ text: 'one' });
    const message = await host.message('one', patienceMs);
    const first = await answer(connection, message, 'yes');
    assert.deepEqual(await answer(connection, message, 'yes'), first);
    const stored = world.mailbox.messages.get(world.mailbox.sent[0]!.id)!;
    world.mailbox.messages.set(stored.id, {
      ...stored,
      raw: stored.raw.replace('Message-ID: <lodge.key-1', 'Message-ID: <other'),
    });
    assert.deepEqual(await answer(connection, message, 'yes'), first);
    assert.equal(world.mailbox.sent.length, 1);
    await answer(connection, message, 'and another', 'key-2');
    assert.equal(world.mailbox.sent.length, 2);
  });

  test('to a thread that was deleted begins another, once', async (t) => {
    const { host, connection } = await connected(t);
    const mail = writeTo({ text: 'one' });
    const message = await host.message('one', patienceMs);
    world.mailbox.messages.delete(mail.id);
    const first = await answer(connection, message, 'yes');
    assert.deepEqual(await answer(connection, message, 'yes'), first);
    assert.equal(world.mailbox.sent.length, 1);
  });

  test('to no mail goes to the conversation, as nobody asked for it', async (t) => {
    const { host, connection } = await connected(t);
    writeTo({ subject: 'Reports', text: 'Daily, please.' });
    const message = await host.message('Subject: Reports\n\nDaily, please.', patienceMs);
    await connection.send({ ...targetOf(message), replyTo: null }, say('Today.'), 'k', AbortSignal.timeout(5_000));
    const { headers, threadId } = world.mailbox.sent[0]!;
    assert.equal(`${threadId}/${headers['to']}`, message.conversation.id);
    assert.equal(headers['subject'], 'Re: Reports');
  });

  test('is refused, or tried again, as Gmail says', async (t) => {
    const { host, connection } = await connected(t);
    writeTo({ text: 'one' });
    const message = await host.message('one', patienceMs);
    const outcomes: readonly (readonly [Fault['does'], string])[] = [
      ['rate', 'retry'],
      ['quota', 'retry'],
      [400, 'refused'],
      [413, 'refused'],
      [503, 'unknown'],
      ['drop', 'unknown'],
    ];
    for (const [does, outcome] of outcomes) {
      world.google.fault({ of: 'POST messages/send', mailbox: world.address, does });
      await assert.rejects(answer(connection, message, 'yes'), { name: 'SendFailure', outcome }, String(does));
    }
    world.google.fault({ of: 'GET threads', mailbox: world.address, does: 503 });
    await assert.rejects(answer(connection, message, 'yes'), { outcome: 'retry' });
    assert.equal(world.mailbox.sent.length, 0);
    await answer(connection, message, 'yes');
  });
});
