/** Messages, and the keys that they move: what WhatsApp does that other platforms do not. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { SendFailure } from '@lodge/ports';
import { startWhatsAppStub } from '@lodge/testkit/whatsapp';
import type { WhatsAppStub } from '@lodge/testkit/whatsapp';
import { Case } from './testing/case.ts';
import './testing/timers.ts';

let stub: WhatsAppStub;
before(async () => {
  stub = await startWhatsAppStub();
  stub.misbehave.fewPreKeys = true;
});
after(() => stub.close());

describe('messages', () => {
  test('what came while it was away is taken, but for what is old and what is its own', async (t) => {
    const each = await Case.connected(t, stub);
    await each.connection!.close();
    await each.write('a week late', { sentAt: new Date(Date.now() - 8 * 24 * 3_600_000) });
    await each.write('an hour late', { sentAt: new Date(Date.now() - 3_600_000) });
    await each.write('', { message: { reactionMessage: { text: '👍', key: { id: 'x' } } } });
    await each.write('now');
    await each.connect();
    await each.host.message('now');
    assert.deepEqual(
      each.kept.messages.map(({ text }) => text),
      ['an hour late', 'now'],
    );
    await each.host.until(() => each.account.waiting.length === 0, 'all to be acknowledged');
  });

  test('a person is one conversation and one sender, however the server names them', async (t) => {
    const each = await Case.connected(t, stub);
    await each.write('by number');
    await each.write('by lid', { addressing: 'lid' });
    const [byNumber, byLid] = [await each.host.message('by number'), await each.host.message('by lid')];
    assert.equal(byLid.conversation.id, byNumber.conversation.id);
    assert.equal(byLid.sender.id, `+${each.ann.number}`);
    assert.equal(byNumber.sender.id, byLid.sender.id);
    await each.answer('to the lid', byLid);
    await each.host.until(() => each.shown().includes('to the lid'), 'the answer');
  });

  test('a group tells its name after its first message', async (t) => {
    const each = await Case.connected(t, stub);
    const group = stub.group('Kitchen', [each.account.phone, each.ann]);
    await stub.writeInGroup(each.ann, group, 'one');
    assert.equal((await each.host.message('one')).conversation.title, null);
    await sleep(200);
    await stub.writeInGroup(each.ann, group, 'two');
    assert.equal((await each.host.message('two')).conversation.title, 'Kitchen');
  });

  test('an answer in a group shows what it answers; no answer opens a chat', async (t) => {
    const each = await Case.connected(t, stub);
    const group = stub.group('Kitchen', [each.account.phone, each.ann]);
    const id = await stub.writeInGroup(each.ann, group, 'salt?');
    const message = await each.host.message('salt?');
    await each.answer('yes', message);
    await each.host.until(
      () => each.ann.shown.some(({ text, answers }) => text === 'yes' && answers === id),
      'the answer',
    );
    const stranger = {
      ...message,
      replyTo: null,
      conversation: { ...message.conversation, id: '15559999999@s.whatsapp.net' },
    };
    await assert.rejects(
      each.answer('buy this', stranger),
      (error) => error instanceof SendFailure && error.outcome === 'refused',
    );
  });
});

describe('keys', () => {
  test('a process that dies between the commit and the receipt has the message once', async (t) => {
    const each = await Case.connected(t, stub);
    await each.hears('before');
    const { vault } = each.host;
    const set = vault.set.bind(vault);
    let died = false;
    Object.assign(vault, {
      set: async (...given: Parameters<typeof set>) => {
        await set(...given);
        if (given[1] && !died) {
          died = true;
          throw new Error('killed after the commit');
        }
      },
    });
    await each.write('once');
    await each.host.message('once');
    await each.host.reaches('disconnected');
    await each.host.reaches('connected', 15_000);
    await each.host.until(() => each.account.waiting.length === 0, 'the acknowledgement');
    await each.hears('and on');
    assert.deepEqual(
      each.kept.messages.map(({ text }) => text),
      ['before', 'once', 'and on'],
    );
  });

  test('no answer leaves before its key is kept', async (t) => {
    const each = await Case.connected(t, stub);
    const message = await each.hears('question');
    const sent = (): number => stub.seen.filter((tag) => tag.startsWith('message')).length;
    const before = sent();
    const { vault } = each.host;
    const set = vault.set.bind(vault);
    Object.assign(vault, {
      set: (...given: Parameters<typeof set>) =>
        given[0].some(({ type }) => type === 'session') ? new Promise(() => undefined) : set(...given),
    });
    await assert.rejects(each.answer('too early', message, 'k', 600), SendFailure);
    assert.equal(sent(), before);
    assert.deepEqual(each.shown(), []);
  });

  test('an answer that a phone cannot read is sent again, by the next process as well', async (t) => {
    const each = await Case.connected(t, stub);
    const message = await each.hears('question');
    await each.answer('first', message);
    await each.host.until(() => each.shown().includes('first'), 'the first answer');
    await each.ann.forget(each.account.device!.jid);
    await each.answer('second', message);
    await each.host.until(() => each.shown().includes('second'), 'the second answer, sent again');
    assert.equal(each.ann.unreadable.length, 1);
  });

  test('a message that the agent cannot read is asked for again', async (t) => {
    const each = await Case.connected(t, stub);
    await each.hears('readable');
    await each.connection!.close();
    for (const key of each.kept.values.keys()) if (key.startsWith('session/')) each.kept.values.delete(key);
    await each.write('lost and found');
    await each.connect();
    await each.host.message('lost and found', 8_000);
    assert.ok(each.account.receipts.some(({ type }) => type === 'retry'));
  });

  test('nothing of a session is written to the console', async (t) => {
    const each = await Case.connected(t, stub);
    await each.hears('first');
    const written: string[] = [];
    for (const stream of [process.stdout, process.stderr]) {
      const write = stream.write.bind(stream);
      stream.write = ((...given: Parameters<typeof write>) => {
        written.push(String(given[0]));
        return write(...given);
      }) as typeof write;
      t.after(() => (stream.write = write));
    }
    // The library reports a new session that replaces an open one.
    await each.ann.forget(each.account.device!.jid);
    await each.hears('second');
    console.info('this is seen');
    assert.ok(written.some((line) => line.includes('this is seen')));
    assert.ok(
      !written.some((line) => line.includes('SessionEntry') || line.includes('session in favor')),
      written.join(''),
    );
  });

  test('an account that WhatsApp restricts says so, and its sends are refused', async (t) => {
    const each = await Case.connected(t, stub);
    const message = await each.hears('hello');
    each.account.restricted = true;
    await assert.rejects(
      each.answer('hi', message),
      (error) => error instanceof SendFailure && error.outcome === 'refused',
    );
    await each.host.until(() => each.last.status === 'connected' && each.last.note !== undefined, 'a note');
  });
});
