/** Answers: where they go, how long they may be, and what is said when they did not get there. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { OutboundPart } from '@lodge/ports';
import { SendFailure } from '@lodge/ports';
import { targetOf, unless, World } from './world.ts';
import type { SuiteContext } from './world.ts';

export function describeSending(context: SuiteContext): void {
  const { abilities } = context;
  const text = (given: string): OutboundPart => ({ kind: 'text', ...context.subject.platform.render(given)[0]! });

  describe('sending', () => {
    test('an answer goes where the message came from', async (t) => {
      const world = await World.connected(t, context);
      for (const place of abilities.groups ? (['direct', 'group'] as const) : (['direct'] as const)) {
        const written = await world.account.userWrites({
          in: place,
          text: `from ${place}`,
          mention: place === 'group',
        });
        await world.send(text('The answer.'), await world.host.message(`from ${place}`));
        const sent = world.account.sent().at(-1)!;
        assert.equal(sent.place, written.place);
        assert.ok(sent.text.includes('The answer.'), sent.text);
      }
    });

    test('whatever an agent says is rendered in pieces that the platform takes', async (t) => {
      const world = await World.connected(t, context);
      await world.account.userWrites({ text: 'talk' });
      const message = await world.host.message('talk');
      for (const given of longAnswers) {
        const pieces = world.subject.platform.render(given);
        assert.ok(pieces.length >= 1);
        for (const piece of pieces) await world.send({ kind: 'text', ...piece }, message);
      }
    });

    test('an empty answer is still something', () => {
      for (const given of ['', '   \n\n', '\u200b', '\n\n\n']) {
        const pieces = context.subject.platform.render(given);
        assert.ok(pieces.length >= 1 && pieces.every((piece) => piece.text.trim() !== ''));
      }
    });

    test('rendering takes time in proportion to the text', () => {
      for (const given of hostileAnswers) {
        const before = process.cpuUsage();
        const pieces = context.subject.platform.render(given);
        const tookMs = process.cpuUsage(before).user / 1_000;
        assert.ok(pieces.length >= 1);
        assert.ok(tookMs < 3_000, `${JSON.stringify(given.slice(0, 20))} took ${tookMs} ms`);
      }
    });

    test(
      'a limit on sends is told with its time, and a later try gets through',
      unless(abilities.limitsSends, 'no limits'),
      async (t) => {
        const world = await World.connected(t, context);
        await world.account.userWrites({ text: 'quick' });
        const message = await world.host.message('quick');
        await world.account.misbehave({ do: 'limit_next_send', retryAfterMs: 3_000 });
        const before = world.account.sent().length;
        await assert.rejects(world.send(text('one'), message), (error) => {
          assert.ok(error instanceof SendFailure, String(error));
          return error.outcome === 'retry' && error.retryAfterMs >= 3_000 && error.retryAfterMs < 10_000;
        });
        assert.equal(world.account.sent().length, before);
        await world.send(text('one'), message);
        assert.equal(world.account.sent().length, before + 1);
      },
    );

    test('a send of which nobody knows is unknown, or done once when it is repeated', async (t) => {
      const world = await World.connected(t, context);
      await world.account.userWrites({ text: 'unclear' });
      const message = await world.host.message('unclear');
      await world.account.misbehave({ do: 'unclear_next_send' });
      const before = world.account.sent().length;
      const key = crypto.randomUUID();
      await assert.rejects(world.send(text('sent?'), message, key), (error) => {
        assert.ok(error instanceof SendFailure, String(error));
        return error.outcome === 'unknown' || (world.subject.platform.sendsOnce && error.outcome === 'retry');
      });
      if (world.subject.platform.sendsOnce) await world.send(text('sent?'), message, key);
      assert.equal(world.account.sent().length, before + 1);
    });

    test('a send to nobody is refused or failed, and ends nothing', async (t) => {
      const world = await World.connected(t, context);
      await world.account.userWrites({ text: 'hello' });
      const message = await world.host.message('hello');
      for (const id of ['', 'nobody', '-1', '\u0000', 'x'.repeat(300)]) {
        const nobody = { ...message, conversation: { ...message.conversation, id } };
        await assert.rejects(world.send(text('anyone?'), nobody), SendFailure);
      }
      await world.send(text('you, then'), message);
    });

    test('a send that was given up by its signal is no success', async (t) => {
      const world = await World.connected(t, context);
      await world.account.userWrites({ text: 'stop' });
      const target = targetOf(await world.host.message('stop'));
      await assert.rejects(world.connection!.send(target, text('no'), 'key', AbortSignal.abort()), SendFailure);
    });

    test('a file goes out with its name and bytes', unless(abilities.files, 'no files'), async (t) => {
      const world = await World.connected(t, context);
      await world.account.userWrites({ text: 'the report?' });
      const message = await world.host.message('the report?');
      const bytes = Buffer.alloc(70_000, 'xyz');
      for (const mediaType of ['application/pdf', 'image/png']) {
        const name = mediaType === 'image/png' ? 'a plot.png' : 'the report.pdf';
        const open = async function* (): AsyncIterable<Uint8Array> {
          yield bytes.subarray(0, 30_000);
          yield bytes.subarray(30_000);
        };
        await world.send({ kind: 'file', name, mediaType, bytes: bytes.length, open }, message);
        const { file } = world.account.sent().at(-1)!;
        assert.ok(file);
        assert.deepEqual(Buffer.from(file.bytes), bytes);
        if (mediaType === 'application/pdf') assert.equal(file.name, name);
      }
    });

    test('a file that cannot be read is no success', unless(abilities.files, 'no files'), async (t) => {
      const world = await World.connected(t, context);
      await world.account.userWrites({ text: 'and this?' });
      const message = await world.host.message('and this?');
      const open = async function* (): AsyncIterable<Uint8Array> {
        yield Buffer.alloc(1_000);
        throw new Error('the disk is gone');
      };
      const part: OutboundPart = {
        kind: 'file',
        name: 'x.bin',
        mediaType: 'application/octet-stream',
        bytes: 5_000,
        open,
      };
      await assert.rejects(world.send(part, message), SendFailure);
      assert.equal(
        world.account.sent().some(({ file }) => file !== null),
        false,
      );
    });

    test('that the agent is at work is shown, where the platform can', async (t) => {
      const world = await World.connected(t, context);
      if (world.subject.platform.limits.typingEveryMs === null) return;
      await world.account.userWrites({ text: 'think' });
      const { conversation, replyTo } = await world.host.message('think');
      await world.connection!.typing({ conversationId: conversation.id, replyTo }, AbortSignal.timeout(5_000));
      await world.host.until(() => world.account.typings() > 0, 'the sign');
    });
  });
}

const table = `| a | b |\n| --- | --- |\n${'| one *two* | `three` |\n'.repeat(400)}`;
const code = `Look:\n\n\`\`\`ts\n${'const a = `x` + 1; // 😀 *not bold*\n'.repeat(800)}\`\`\`\n\nDone.`;

const longAnswers: readonly string[] = [
  'Short.',
  `# Title\n\n${'A sentence with **bold**, _italic_, `code` and [a link](https://example.com/a_b). '.repeat(300)}`,
  code,
  table,
  '👩‍👩‍👧'.repeat(3_000),
  'ü'.repeat(9_000),
  'x'.repeat(90_000),
  '- item\n'.repeat(2_000),
  '<b>&amp;</b> <script> & "quotes" > <@U1> @everyone '.repeat(300),
  '**'.repeat(3_000),
];

const hostileAnswers: readonly string[] = [
  '*'.repeat(200_000),
  '['.repeat(200_000),
  '`'.repeat(200_001),
  '> '.repeat(100_000),
  '|'.repeat(200_000),
  '_a '.repeat(70_000),
  `${'['.repeat(50_000)}](${'('.repeat(50_000)}`,
  '<'.repeat(200_000),
  '- '.repeat(100_000),
  '\n'.repeat(200_000),
  '![](a'.repeat(40_000),
  '~~~\n'.repeat(50_000),
];
