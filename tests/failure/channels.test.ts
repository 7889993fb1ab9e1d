/** Relays that die, lose the database or their lease, and platforms that misbehave: nothing lost, nothing sent twice. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openedState } from '@lodge/domain';
import type { Relay } from '@lodge/channels/relay';
import { LeaseLost } from '@lodge/ports';
import type { RelayStore } from '@lodge/ports';
import { findChannel, reopenChannel } from '@lodge/store/channels';
import type { ChannelMessage } from '@lodge/store/channels';
import { ChannelsWorld, ToyAnswerer } from './channels-world.ts';
import type { Talker } from './channels-world.ts';
import { fails, MemoryPlatform, said } from './memory-platform.ts';

let world: ChannelsWorld;
let answerer: ToyAnswerer;

before(async () => {
  world = await ChannelsWorld.start(0);
  answerer = new ToyAnswerer(world.store, 0);
});
after(async () => {
  await answerer?.end();
  await world?.close();
});

async function until<T>(look: () => Promise<T | false | undefined> | T | false | undefined, what: string): Promise<T> {
  const end = Date.now() + 120_000;
  for (;;) {
    const found = await look();
    if (found) return found;
    assert.ok(Date.now() < end, `not within 2 min: ${what}`);
    await sleep(30);
  }
}

const ended = (agentId: string, count = 1): Promise<readonly ChannelMessage[]> =>
  until(async () => {
    const all = await world.messagesOf(agentId);
    return all.length >= count && all.every(({ state }) => state !== 'received') && all;
  }, 'messages end');

/** An agent whose channel is at a platform in memory. The others are switched off. */
async function here(
  platform: MemoryPlatform,
  run: (talker: Talker, relay: Relay) => Promise<void>,
  store?: RelayStore,
): Promise<void> {
  await world.query(`update channels set enabled = false`);
  const talker = await world.addAgent();
  const relay = world.relayHere(platform, {}, store);
  try {
    await until(() => platform.open.length > 0 || platform.accounts.length > 0, 'a connection');
    await run(talker, relay);
  } finally {
    await relay.close();
  }
}

test('a relay that is killed while it sends leaves an unknown message, and nobody sends it twice', async () => {
  const { agentId, bot } = await world.addAgent();
  world.startRelay(0);
  await until(() => bot.isPolled, 'a poll');
  bot.misbehave('slow');
  bot.userWrites({ text: 'hello' });
  await until(() => bot.sent.length > 0, 'a send');
  await world.killRelay(0);
  bot.misbehave('mended');
  const [message] = await ended(agentId);
  assert.deepEqual([message!.state, bot.sent.length], ['unknown', 1]);
  assert.match(message!.reason!, /may have arrived/);
  bot.userWrites({ text: 'again' });
  const [, next] = await ended(agentId, 2);
  assert.equal(next!.state, 'answered');
  await world.endRelays();
});

test('a relay whose renewals fail closes its connections before the lease ends, and another one follows', async () => {
  const platform = new MemoryPlatform({ sendsOnce: false });
  let isCut = false;
  const store = Object.assign(Object.create(world.store.relay) as RelayStore, {
    renew: (...args: Parameters<RelayStore['renew']>) =>
      isCut ? Promise.reject(new Error('the database is away')) : world.store.relay.renew(...args),
    release: () => Promise.reject(new Error('the database is away')),
    acquire: (...args: Parameters<RelayStore['acquire']>) =>
      isCut ? Promise.reject(new Error('the database is away')) : world.store.relay.acquire(...args),
  });
  await here(
    platform,
    async ({ agentId }) => {
      isCut = true;
      const [host] = platform.open;
      await until(() => platform.open.length === 0, 'the connection ends');
      const [lease] = await world.query<{ left: number }>(
        `select extract(epoch from lease_until - clock_timestamp())::float8 as left from channels where agent_id = '${agentId}'`,
      );
      assert.ok(lease!.left > 0, `${lease!.left} s are left`);
      await assert.rejects(host!.received([said('late')]), LeaseLost);
      const follower = world.relayHere(platform);
      await until(() => platform.open.length === 1, 'another relay follows');
      assert.equal(platform.mostOpen, 1);
      await platform.open[0]!.received([said('now')]);
      assert.deepEqual(
        (await ended(agentId)).map(({ text, state }) => [text, state]),
        [['now', 'answered']],
      );
      await follower.close();
    },
    store,
  );
});

test('an unclear part is sent again where the platform tells a second try by its key', async () => {
  const platform = new MemoryPlatform({ sendsOnce: true });
  platform.onSend = (_, tries) => (tries === 1 ? fails('unknown') : Promise.resolve());
  await here(platform, async ({ agentId }) => {
    await platform.open[0]!.received([said('a|b')]);
    assert.equal((await ended(agentId))[0]!.state, 'answered');
    assert.deepEqual(
      platform.sent.map(({ text, index }) => [text, index]),
      [
        ['a', 0],
        ['b', 1],
      ],
    );
    assert.equal(new Set(platform.tries).size, 2);
  });
});

test('an unclear part is not sent again once the platform has forgotten its key', async () => {
  const platform = new MemoryPlatform({ sendsOnce: true, sendsOnceForMs: 1 });
  platform.onSend = () => fails('unknown');
  await here(platform, async ({ agentId }) => {
    await platform.open[0]!.received([said('a')]);
    assert.equal((await ended(agentId))[0]!.state, 'unknown');
    assert.equal(platform.tries.length, 1);
  });
});

test('what is surely not sent is tried again, what is refused or cannot be rendered fails, what is unclear is unknown', async () => {
  const platform = new MemoryPlatform({ sendsOnce: false });
  platform.onSend = async (conversation, tries) => {
    if (conversation === 'retried' && tries < 3) await fails('retry', 50);
    if (conversation === 'refused') await fails('refused');
    if (conversation === 'unclear') throw new TypeError('what an adapter never says');
  };
  await here(platform, async ({ agentId }) => {
    const from = (id: string, text = id) => said(text, { conversation: { id, kind: 'direct', title: null } });
    await platform.open[0]!.received([
      from('retried'),
      from('refused'),
      from('unclear'),
      from('other', 'unrenderable'),
    ]);
    const all = await ended(agentId, 4);
    assert.deepEqual(Object.fromEntries(all.map(({ text, state }) => [text, state])), {
      retried: 'answered',
      refused: 'failed',
      unclear: 'unknown',
      unrenderable: 'failed',
    });
    assert.equal(all.find(({ text }) => text === 'refused')!.reason, 'The platform said refused.');
    assert.equal(platform.sent.length, 1);
  });
});

test('a platform that throws in every method ends neither the process nor other channels', async () => {
  const platform = new MemoryPlatform({ sendsOnce: false });
  let isFirst = true;
  platform.onConnect = () => {
    if (!isFirst) return;
    isFirst = false;
    throw new Error('a token is in here');
  };
  platform.onTyping = () => {
    throw new Error('no');
  };
  platform.onClose = () => Promise.reject(new Error('no'));
  await here(platform, async ({ agentId }) => {
    const row = await until(async () => {
      const found = await world.store.database.repeatable((db) =>
        findChannel(db, { accountId: world.accountId, agentId, channel: 'telegram' }),
      );
      return found?.status === 'error' && found;
    }, 'the channel is in error');
    assert.ok(!row.statusReason!.message.includes('token'));
    const other = await world.addAgent();
    await until(() => platform.open.length === 1, 'another connection');
    await platform.open[0]!.received([said('fine')]);
    assert.equal((await ended(other.agentId))[0]!.state, 'answered');
    await world.store.database.transaction((trx) =>
      reopenChannel(
        trx,
        { accountId: world.accountId, agentId, channel: 'telegram' },
        openedState('telegram', true, true),
      ),
    );
    await until(() => platform.open.length === 2, 'the channel that was restarted');
  });
});

test('an account that nobody verified: the second channel of it is in error and takes no message, the first goes on', async () => {
  const platform = new MemoryPlatform({ sendsOnce: false, tellsAccount: true });
  await here(platform, async (first) => {
    const find = (agentId: string) =>
      world.store.database.repeatable((db) =>
        findChannel(db, { accountId: world.accountId, agentId, channel: 'telegram' }),
      );
    const unverified = (agentId: string) =>
      world.query(`update channels set account_key = 'unverified/${agentId}' where agent_id = '${agentId}'`);
    await unverified(first.agentId);
    await world.store.database.transaction((trx) =>
      reopenChannel(
        trx,
        { accountId: world.accountId, agentId: first.agentId, channel: 'telegram' },
        openedState('telegram', true, true),
      ),
    );
    await until(async () => {
      const [row] = await world.query<{ account_key: string }>(
        `select account_key from channels where agent_id = '${first.agentId}'`,
      );
      return row!.account_key === 'one';
    }, 'the account of the first');
    const [host] = platform.open.slice(-1);
    let outcome = 'none';
    platform.onOpened = (opened) =>
      void opened.received([said('not for the second')]).then(
        () => (outcome = 'taken'),
        (error: unknown) => (outcome = error instanceof LeaseLost ? 'left' : 'failed'),
      );
    await world.query(`update channels set enabled = false where agent_id <> '${first.agentId}'`);
    const second = await world.addAgent({ accountKey: 'unverified/2' });
    const row = await until(async () => {
      const found = await find(second.agentId);
      return found?.status === 'error' && found;
    }, 'the second is in error');
    assert.equal(row.statusReason!.code, 'used_elsewhere');
    await until(() => outcome !== 'none', 'an outcome');
    assert.deepEqual([outcome, await world.messagesOf(second.agentId)], ['left', []]);
    assert.ok(platform.open.includes(host!));
    await host!.received([said('for the first')]);
    assert.equal((await ended(first.agentId))[0]!.state, 'answered');
    assert.equal((await find(first.agentId))!.status, 'connected');
  });
});

test('files of messages come to the host within their bounds, files of answers go out, and one that is gone is a failure', async () => {
  const platform = new MemoryPlatform({ sendsOnce: false });
  await answerer.end();
  await here(platform, async ({ agentId }) => {
    const file = { name: 'f', mediaType: 'text/plain', bytes: null, kind: 'file' } as const;
    const refs = ['small', 'x'.repeat(1_001), 'gone'];
    await platform.open[0]!.received([said('files', { files: refs.map((ref) => ({ ...file, ref })) })]);
    const options = { holder: 'h', limit: 1, perAgent: 1, leaseMs: 60_000 };
    const [claim] = await until(async () => {
      const found = await world.store.channelTurns.claim(options);
      return found.length > 0 && found;
    }, 'the files');
    const [small, large, gone] = claim!.messages[0]!.files;
    assert.deepEqual([large!.reason, gone!.reason], ['it is too large', 'it could not be fetched']);
    await until(() => platform.typed.includes('c1'), 'a sign of typing');
    const out = { name: 'out', mediaType: 'text/plain', bytes: 5, key: small!.key! };
    await world.store.channelTurns.answer(claim!, {
      outcome: 'answered',
      reason: null,
      answer: { text: 'here', files: [out, { ...out, key: '0'.repeat(32) }] },
    });
    const [message] = await ended(agentId);
    assert.deepEqual([message!.state, message!.reason], ['failed', 'The file is not on the host any more.']);
    assert.deepEqual(
      platform.sent.map(({ text }) => text),
      ['here', 'out:small'],
    );
  });
  answerer = new ToyAnswerer(world.store, 0);
});

test('a relay that ends gives its channels back at once', async () => {
  const platform = new MemoryPlatform({ sendsOnce: false });
  await here(platform, async ({ agentId }, relay) => {
    const find = () =>
      world.store.database.repeatable((db) =>
        findChannel(db, { accountId: world.accountId, agentId, channel: 'telegram' }),
      );
    await until(async () => (await find())?.status === 'connected', 'the channel is connected');
    await relay.close();
    assert.equal(platform.open.length, 0);
    assert.equal((await find())!.status, 'connected', 'an end on purpose is no trouble of the channel');
    const next = world.relayHere(platform);
    const startedAt = performance.now();
    await until(() => platform.open.length === 1, 'the next relay');
    assert.ok(performance.now() - startedAt < 4_000);
    await next.close();
  });
});
