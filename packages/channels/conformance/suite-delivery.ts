/** Nothing that the platform took is lost or acknowledged before it is committed. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { unless, World } from './world.ts';
import type { SuiteContext } from './world.ts';

export function describeDelivery(context: SuiteContext): void {
  const acknowledges = context.abilities.acknowledges;

  describe('delivery', () => {
    test(
      'a message is acknowledged once it is committed',
      unless(acknowledges, 'nothing is acknowledged'),
      async (t) => {
        const { account, host } = await World.connected(t, context);
        const written = await account.userWrites({ text: 'take this' });
        await host.message('take this');
        await host.until(() => account.acknowledged(written), 'the acknowledgement');
      },
    );

    test('a message that was not committed comes again', async (t) => {
      const { account, host } = await World.connected(t, context);
      host.behaviour = 'reject';
      const written = await account.userWrites({ text: 'again, please' });
      await host.until(() => host.attempts >= 2, 'another try');
      if (acknowledges) assert.equal(account.acknowledged(written), false);
      host.behaviour = 'commit';
      await host.message('again, please');
      assert.equal(new Set(host.deliveries.map(({ id }) => id)).size, 1);
    });

    test('a commit that hangs acknowledges nothing, and ends with the connection; the next one has the message', async (t) => {
      const world = await World.connected(t, context);
      world.host.behaviour = 'hang';
      const written = await world.account.userWrites({ text: 'hanging' });
      await world.host.until(() => world.host.attempts >= 1, 'a try');
      await sleep(300);
      if (acknowledges) assert.equal(world.account.acknowledged(written), false);
      await world.close();
      if (acknowledges) assert.equal(world.account.acknowledged(written), false);
      await world.connect();
      await world.host.message('hanging');
    });

    test('the same message has the same id at every delivery', async (t) => {
      const { account, host, kept } = await World.connected(t, context);
      await account.userWrites({ text: 'one' });
      await host.message('one');
      await account.misbehave({ do: 'redeliver' });
      await account.userWrites({ text: 'two' });
      await host.message('two');
      assert.deepEqual(
        kept.messages.map(({ text }) => text),
        ['one', 'two'],
      );
    });

    test('a connection goes on where the last one was: nothing is lost, nothing is new twice', async (t) => {
      const world = await World.connected(t, context);
      await world.account.userWrites({ text: 'before' });
      await world.host.message('before');
      await world.close();
      await world.account.userWrites({ text: 'while away' });
      await world.connect();
      await world.host.message('while away', 10_000);
      await world.account.userWrites({ text: 'after' });
      await world.host.message('after');
      assert.deepEqual(
        world.kept.messages.map(({ text }) => text),
        ['before', 'while away', 'after'],
      );
    });

    test('a lost lease ends the connection, and nothing is acknowledged', async (t) => {
      const { account, host } = await World.connected(t, context);
      host.behaviour = 'lease_lost';
      const written = await account.userWrites({ text: 'not mine' });
      await host.until(() => host.attempts >= 1, 'a try');
      await sleep(500);
      const { attempts } = host;
      const calls = account.calls();
      const later = await account.userWrites({ text: 'not mine either' });
      await sleep(500);
      assert.equal(host.attempts, attempts);
      assert.equal(account.calls(), calls);
      if (acknowledges) assert.ok(!account.acknowledged(written) && !account.acknowledged(later));
    });

    test('after closing nothing is taken, said or acknowledged, and closing twice is no matter', async (t) => {
      const world = await World.connected(t, context);
      await world.close();
      await world.close();
      // Messages that were sent before the end still arrive.
      await sleep(100);
      const states = world.host.states.length;
      const calls = world.account.calls();
      const written = await world.account.userWrites({ text: 'too late' });
      await sleep(400);
      assert.equal(world.host.attempts, 0);
      assert.equal(world.host.states.length, states);
      assert.equal(world.account.calls(), calls);
      if (acknowledges) assert.equal(world.account.acknowledged(written), false);
    });

    test('closing at once, before anything was connected, is quick', async (t) => {
      const world = await World.open(t, context);
      world.begin();
      await world.close();
      await sleep(100);
      const calls = world.account.calls();
      await sleep(300);
      assert.equal(world.account.calls(), calls);
    });
  });
}
