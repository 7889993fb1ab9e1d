/** A person's message on its way into the store. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { unless, World, bytesOf } from './world.ts';
import type { SuiteContext } from './world.ts';

export function describeMessages(context: SuiteContext): void {
  const { abilities } = context;
  const groups = unless(abilities.groups, 'no groups');
  const files = unless(abilities.files, 'no files');

  describe('messages', () => {
    test('a direct message arrives with who, where, when and what', async (t) => {
      const { account, host } = await World.connected(t, context);
      await account.userWrites({ text: 'Hello, agent', from: { name: 'Ann' } });
      const message = await host.message('Hello, agent');
      assert.equal(message.conversation.kind, 'direct');
      assert.equal(message.addressed, true);
      assert.equal(message.sender.isBot, false);
      assert.ok(message.sender.name.includes('Ann'), message.sender.name);
      assert.ok(Math.abs(message.sentAt.getTime() - Date.now()) < 120_000);
      assert.deepEqual(message.files, []);
    });

    test('messages come in their order, of one conversation and one sender', async (t) => {
      const { account, host, kept } = await World.connected(t, context);
      const texts = Array.from({ length: 12 }, (_, at) => `number ${at}`);
      for (const text of texts) await account.userWrites({ text });
      await host.message('number 11');
      assert.deepEqual(
        kept.messages.map(({ text }) => text),
        texts,
      );
      assert.equal(new Set(kept.messages.map(({ conversation }) => conversation.id)).size, 1);
      assert.equal(new Set(kept.messages.map(({ sender }) => sender.id)).size, 1);
      assert.equal(new Set(kept.messages.map(({ id }) => id)).size, texts.length);
    });

    test('in a group a mention addresses the agent and is left out; anything else does not', groups, async (t) => {
      const { account, host } = await World.connected(t, context);
      await account.userWrites({ in: 'group', text: 'among ourselves', groupName: 'Kitchen' });
      await account.userWrites({ in: 'group', text: 'what is up?', mention: true, groupName: 'Kitchen' });
      const mention = await host.message('what is up?');
      assert.equal(mention.conversation.kind, 'group');
      assert.equal(mention.addressed, true);
      const other = await host.message('among ourselves');
      assert.equal(other.addressed, false);
      assert.equal(other.conversation.id, mention.conversation.id);
    });

    test('in a group an answer to the agent addresses it', groups, async (t) => {
      const world = await World.connected(t, context);
      await world.account.userWrites({ in: 'group', text: 'first', mention: true });
      await world.send(
        { kind: 'text', ...world.subject.platform.render('yes?')[0]! },
        await world.host.message('first'),
      );
      await world.account.userWrites({ in: 'group', text: 'second', repliesToAgent: true });
      assert.equal((await world.host.message('second')).addressed, true);
    });

    test(
      'a thread is a conversation of its own, and is answered there',
      unless(abilities.threads, 'no threads'),
      async (t) => {
        const world = await World.connected(t, context);
        await world.account.userWrites({ in: 'group', text: 'outside', mention: true });
        const outside = await world.host.message('outside');
        const written = await world.account.userWrites({ in: 'group', text: 'inside', mention: true, thread: '77' });
        const inside = await world.host.message('inside');
        assert.notEqual(inside.conversation.id, outside.conversation.id);
        await world.send({ kind: 'text', text: 'there', format: null }, inside);
        assert.equal(world.account.sent().at(-1)!.place, written.place);
      },
    );

    test('bots are told from persons, or left out', unless(abilities.bots, 'no bots'), async (t) => {
      const { account, host, kept } = await World.connected(t, context);
      await account.userWrites({ text: 'I am a bot', from: { isBot: true } });
      await account.userWrites({ text: 'I am not' });
      await host.message('I am not');
      for (const message of kept.messages) assert.equal(message.sender.isBot, message.text === 'I am a bot');
    });

    test('hostile names are bounded', async (t) => {
      const { account, host, kept } = await World.connected(t, context);
      const name = '\u202e😀\n'.repeat(2_000);
      await account.userWrites({ text: 'named', from: { name } });
      if (abilities.groups)
        await account.userWrites({ in: 'group', text: 'in a group', mention: true, from: { name }, groupName: name });
      await account.userWrites({ text: 'afterwards' });
      await host.message('afterwards');
      assert.equal(kept.messages.length, abilities.groups ? 3 : 2);
    });

    test('a file comes with its bytes, and no more of them than are asked for', files, async (t) => {
      const { account, host, connection } = await World.connected(t, context);
      const bytes = Buffer.alloc(100_000, 'ab');
      await account.userWrites({ text: 'look', file: { name: 'a table.csv', mediaType: 'text/csv', bytes } });
      const { files: found } = await host.message('look');
      assert.equal(found.length, 1);
      const [file] = found;
      assert.equal(file!.name, 'a table.csv');
      assert.ok(file!.bytes === null || file!.bytes === bytes.length);
      host.note('ref', file!.ref);
      const { signal } = new AbortController();
      assert.deepEqual(await bytesOf(await connection!.open(file!.ref, bytes.length, signal)), bytes);
      await assert.rejects(
        async () => bytesOf(await connection!.open(file!.ref, bytes.length - 1, signal)),
        (error) => {
          host.note('too large', error);
          return true;
        },
      );
    });

    test('a ref that nobody gave out is refused', files, async (t) => {
      const { host, connection } = await World.connected(t, context);
      const { signal } = new AbortController();
      for (const ref of [
        '',
        'nothing',
        '../../etc/passwd',
        'http://127.0.0.1:1/',
        '{"__proto__":1}',
        'x'.repeat(100_000),
      ]) {
        await assert.rejects(
          async () => bytesOf(await connection!.open(ref, 100, signal)),
          (error) => {
            host.note('refused ref', error);
            return true;
          },
        );
      }
    });
  });
}
