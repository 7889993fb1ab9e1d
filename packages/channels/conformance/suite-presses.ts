/** Choices below a message: shown, pressed, answered, and taken away. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { platformOf } from '@lodge/domain';
import type { Choice } from '@lodge/domain';
import { SendFailure } from '@lodge/ports';
import type { InboundMessage } from '@lodge/ports';
import { targetOf, unless, World } from './world.ts';
import type { SuiteContext } from './world.ts';

const yes = { token: 'y'.repeat(64), label: 'Allow' };
const no = { token: 'n_-0', label: 'Deny' };
const most: readonly Choice[] = Array.from({ length: 6 }, (_, at) => ({
  token: `${at}`.repeat(64),
  label: `${at} <&> *_`.padEnd(40, '😀').slice(0, 40),
}));

export function describePresses(context: SuiteContext): void {
  describe('presses', () => {
    test('are there where the platform is among those with buttons', async (t) => {
      const world = await World.open(t, context);
      const { hasButtons } = platformOf(context.subject.platform.channel);
      assert.equal(context.abilities.buttons, hasButtons);
      world.begin();
      assert.equal(world.connection!.closeChoices !== undefined, hasButtons);
    });

    const buttons = unless(context.abilities.buttons, 'no buttons');

    test(
      'choices are shown below the text, and a press comes with its token, its sender and its place',
      buttons,
      async (t) => {
        for (const place of ['direct', 'group'] as const) {
          const { world, message, id } = await asked(t, context, place);
          assert.deepEqual(world.account.buttons!(), [{ text: 'May I?', labels: ['Allow', 'Deny'] }]);
          for (const { token, label } of [yes, no]) {
            const press = await world.account.userPresses!({ label });
            await world.host.until(() => world.account.told!(press) !== null, 'the answer');
            assert.equal(world.account.told!(press), 'It is allowed.');
            const { conversation, sender, ...rest } = world.host.presses.at(-1)!;
            assert.deepEqual(rest, { token, messageId: id });
            assert.deepEqual(conversation, { id: message.conversation.id, kind: place });
            assert.deepEqual([sender.id, sender.isBot], [message.sender.id, false]);
          }
          assert.equal(world.account.buttons!().length, 1);
        }
      },
    );

    test('another person is another sender', buttons, async (t) => {
      const { world, message } = await asked(t, context, 'group');
      const press = await world.account.userPresses!({ label: 'Allow', by: 'another' });
      await world.host.until(() => world.account.told!(press) !== null, 'the answer');
      assert.notEqual(world.host.presses.at(-1)!.sender.id, message.sender.id);
    });

    test('as many choices as there may be are shown, with their labels', buttons, async (t) => {
      const { world } = await asked(t, context, 'direct', most);
      const labels = most.map(({ label }) => label);
      assert.deepEqual(world.account.buttons!(), [{ text: 'May I?', labels }]);
      await world.account.userPresses!({ label: labels[5]! });
      await world.host.until(() => world.host.presses.length > 0, 'the press');
      assert.equal(world.host.presses[0]!.token, most[5]!.token);
    });

    test('nobody is told anything before the press is committed', buttons, async (t) => {
      const { world } = await asked(t, context, 'direct');
      world.host.behaviour = 'reject';
      const first = await world.account.userPresses!({ label: 'Allow' });
      await world.host.until(() => world.host.presses.length > 1, 'another try');
      assert.equal(world.account.told!(first), null);
      world.host.behaviour = 'commit';
      await world.host.until(() => world.account.told!(first) !== null, 'the answer');
    });

    test('a lost lease tells nobody anything', buttons, async (t) => {
      const { world } = await asked(t, context, 'direct');
      world.host.behaviour = 'lease_lost';
      const press = await world.account.userPresses!({ label: 'Allow' });
      await world.host.until(() => world.host.presses.length > 0, 'the press');
      const { length } = world.host.presses;
      await world.close();
      assert.equal(world.account.told!(press), null);
      assert.equal(world.host.presses.length, length);
    });

    test('a press that nobody can answer any more holds nothing up', buttons, async (t) => {
      const { world } = await asked(t, context, 'direct');
      const late = await world.account.userPresses!({ label: 'Allow', isLate: true });
      await world.host.until(() => world.host.presses.length > 0, 'the press');
      const press = await world.account.userPresses!({ label: 'Deny' });
      await world.host.until(() => world.account.told!(press) !== null, 'the answer');
      await world.account.userWrites({ text: 'go on' });
      await world.host.message('go on');
      assert.equal(world.account.told!(late), null);
    });

    test('the answer to a press can take the buttons away', buttons, async (t) => {
      const { world } = await asked(t, context, 'direct');
      world.host.pressAnswer = { say: 'x'.repeat(200), close: true };
      const press = await world.account.userPresses!({ label: 'Deny' });
      await world.host.until(() => world.account.told!(press) !== null, 'the answer');
      assert.equal(world.account.told!(press), 'x'.repeat(200));
      await world.host.until(() => world.account.buttons!().length === 0, 'the end of the buttons');
    });

    test('a message is replaced by a text without buttons, as often as it is asked for', buttons, async (t) => {
      for (const place of ['direct', 'group'] as const) {
        const { world, message, id } = await asked(t, context, place);
        const [text] = world.subject.platform.render('**Allowed** by Ann.');
        const close = (which: string) =>
          world.connection!.closeChoices!(targetOf(message), which, text!, AbortSignal.timeout(10_000));
        for (let times = 1; times <= 2; times += 1) await close(id);
        assert.deepEqual(world.account.buttons!(), []);
        assert.ok(world.account.shown!().some((each) => /Allowed/.test(each)));
        assert.ok(!world.account.shown!().includes('May I?'));
        for (const wrong of ['', 'x/../y', '-1', '9'.repeat(300)]) await assert.rejects(close(wrong), SendFailure);
        const stopped = world.connection!.closeChoices!(targetOf(message), id, text!, AbortSignal.abort());
        await assert.rejects(stopped, SendFailure);
      }
    });
  });
}

interface Asked {
  readonly world: World;
  readonly message: InboundMessage;
  /** The platform's id of the message with the choices. */
  readonly id: string;
}

async function asked(
  t: TestContext,
  context: SuiteContext,
  place: 'direct' | 'group',
  choices: readonly Choice[] = [yes, no],
): Promise<Asked> {
  const world = await World.connected(t, context);
  await world.account.userWrites({ text: 'do it', in: place, mention: place === 'group' });
  const message = await world.host.message('do it');
  const [text] = world.subject.platform.render('May I?');
  return { world, message, id: await world.send({ kind: 'text', ...text!, choices }, message) };
}
