/** A turn's progress while it lasts: posted, edited, removed. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { platformOf } from '@lodge/domain';
import { SendFailure } from '@lodge/ports';
import type { ProgressMessages, ProgressTarget } from '@lodge/ports';
import { unless, World } from './world.ts';
import type { SuiteContext } from './world.ts';

/** An agent's text is shown unchanged, and notifies nobody. */
const hostileTexts: readonly string[] = [
  'Working…\n\n@everyone @here @channel <!channel> <!everyone> <@U1> <@&1> [a](https://example.com)',
  `Working…\n\n${'**_`[<&>'.repeat(80)}`,
  'Working…\n\n```\nhalf a fence 😀',
];

export function describeProgress(context: SuiteContext): void {
  const edits = unless(context.abilities.progress, 'what is sent stays');

  describe('progress', () => {
    test('is shown where the platform is among those that show it', () => {
      const { channel, limits } = context.subject.platform;
      assert.equal(limits.progress !== undefined, platformOf(channel).hasProgress);
      assert.equal(context.abilities.progress, platformOf(channel).hasProgress);
    });

    test('a message is posted, edited and taken away, and nothing of it comes in', edits, async (t) => {
      const { world, progress, to, signal } = await talking(t, context);
      const heard = new Set(world.host.deliveries.map(({ id }) => id)).size;
      const { id } = await progress.post(to, 'Working…', signal);
      assert.ok(id.length > 0 && id.length <= 200);
      assert.deepEqual(world.account.shown!(), ['Working…']);
      for (const text of ['Working…\n\nOne.', 'Working…\n\nOne. Two.', 'Working…\n\nOne. Two.']) {
        await progress.edit(to, id, text, signal);
        assert.deepEqual(world.account.shown!(), [text]);
      }
      for (let times = 1; times <= 2; times += 1) await progress.remove(to, id, signal);
      assert.deepEqual(world.account.shown!(), []);
      await world.account.userWrites({ text: 'thanks' });
      await world.host.message('thanks');
      assert.equal(new Set(world.host.deliveries.map((each) => each.id)).size, heard + 1);
    });

    test('whatever an agent says is taken, and rings nobody', edits, async (t) => {
      const { world, progress, to, signal } = await talking(t, context);
      const { id } = await progress.post(to, hostileTexts[0]!, signal);
      for (const text of hostileTexts.toReversed()) await progress.edit(to, id, text, signal);
      assert.equal(world.account.rang!(), 0);
    });

    test('a message that is gone, or was never there, is refused', edits, async (t) => {
      const { world, progress, to, signal } = await talking(t, context);
      const { id } = await progress.post(to, 'Working…', signal);
      await progress.remove(to, id, signal);
      await assert.rejects(progress.edit(to, id, 'More.', signal), isRefused);
      for (const wrong of ['', 'x/../y', '-1', '9'.repeat(300)]) {
        await assert.rejects(progress.edit(to, wrong, 'More.', signal), isRefused);
        await assert.rejects(progress.remove(to, wrong, signal), isRefused);
      }
      await assert.rejects(progress.post({ conversationId: 'nobody' }, 'Working…', signal), SendFailure);
      assert.deepEqual(world.account.shown!(), []);
    });

    test('what a user wrote is not ours to change', edits, async (t) => {
      const { world, progress, to, signal } = await talking(t, context);
      const { replyTo } = world.kept.messages.at(-1)!;
      const id = String(Object.values(replyTo!)[0]);
      await assert.rejects(progress.edit(to, id, 'More.', signal), isRefused);
    });

    test('a limit on edits is told with its time', edits, async (t) => {
      const { world, progress, to, signal } = await talking(t, context);
      const { id } = await progress.post(to, 'Working…', signal);
      await world.account.misbehave({ do: 'limit_next_edit', retryAfterMs: 3_000 });
      await assert.rejects(progress.edit(to, id, 'More.', signal), (error) => {
        assert.ok(error instanceof SendFailure, String(error));
        return error.outcome === 'retry' && error.retryAfterMs >= 3_000 && error.retryAfterMs < 10_000;
      });
      assert.deepEqual(world.account.shown!(), ['Working…']);
    });

    test('what was given up by its signal is no success', edits, async (t) => {
      const { world, progress, to } = await talking(t, context);
      await assert.rejects(progress.post(to, 'Working…', AbortSignal.abort()), SendFailure);
      assert.deepEqual(world.account.shown!(), []);
    });
  });
}

interface Talking {
  readonly world: World;
  readonly progress: ProgressMessages;
  readonly to: ProgressTarget;
  readonly signal: AbortSignal;
}

async function talking(t: TestContext, context: SuiteContext): Promise<Talking> {
  const world = await World.connected(t, context);
  await world.account.userWrites({ text: 'work' });
  const { conversation } = await world.host.message('work');
  const { progress } = world.connection!;
  assert.ok(progress);
  return { world, progress, to: { conversationId: conversation.id }, signal: AbortSignal.timeout(10_000) };
}

const isRefused = (error: unknown): boolean => {
  assert.ok(error instanceof SendFailure, String(error));
  return error.outcome === 'refused';
};
