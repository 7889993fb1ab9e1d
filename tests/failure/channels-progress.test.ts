/** The progress of a long turn while it lasts: it never delays the answer, and never stays after it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Relay } from '@lodge/channels/relay';
import type { WaitingConversation } from '@lodge/ports';
import { ChannelsWorld } from './channels-world.ts';
import type { Talker } from './channels-world.ts';
import { fails, MemoryPlatform, said } from './memory-platform.ts';

const quick = { workingEveryMs: 40, progressAfterMs: 300 };
const limits = { editEveryMs: 60, gapMs: 10 };
let world: ChannelsWorld;

before(async () => {
  world = await ChannelsWorld.start(0);
});
after(() => world?.close());

async function until<T>(look: () => Promise<T | false | undefined> | T | false | undefined, what: string): Promise<T> {
  const end = Date.now() + 30_000;
  for (;;) {
    const found = await look();
    if (found) return found;
    assert.ok(Date.now() < end, `not within 30 s: ${what}`);
    await sleep(20);
  }
}

/** The turn of what waits, made by the test. */
const claimed = (): Promise<WaitingConversation> =>
  until(
    async () => (await world.store.channelTurns.claim({ holder: 'test', limit: 1, perAgent: 9, leaseMs: 60_000 }))[0],
    'a claim',
  );
const tell = (claim: WaitingConversation, text: string) => world.store.channelTurns.tell(claim, text);
const answer = (claim: WaitingConversation, text: string | null) =>
  world.store.channelTurns.answer(claim, {
    outcome: 'answered',
    reason: null,
    answer: text === null ? null : { text, files: [] },
  });
const posts = (platform: MemoryPlatform): number => platform.done.filter((each) => each.startsWith('post')).length;
const isKept = async (agentId: string): Promise<boolean> =>
  (await world.query(`select 1 from channel_conversations where progress_id is not null and agent_id = '${agentId}'`))
    .length > 0;

/** An agent with a running turn at a platform in memory. The other channels are switched off. */
async function working(
  run: (given: { platform: MemoryPlatform; claim: WaitingConversation; relay: Relay; talker: Talker }) => Promise<void>,
  prepare: (platform: MemoryPlatform) => void = () => undefined,
): Promise<void> {
  await world.query('update channels set enabled = false');
  const platform = new MemoryPlatform({ sendsOnce: false, progress: limits });
  prepare(platform);
  const talker = await world.addAgent();
  const relay = world.relayHere(platform, quick);
  try {
    await until(() => platform.open.length > 0, 'a connection');
    await platform.open[0]!.received([said('work')]);
    await run({ platform, claim: await claimed(), relay, talker });
  } finally {
    await relay.close();
  }
}

test('a long turn shows what its agent says, until its whole answer is sent', async () => {
  await working(async ({ platform, claim, talker }) => {
    await until(() => platform.shown.size === 1, 'progress');
    assert.deepEqual(platform.done, ['post Working…']);
    for (const text of ['I look.', 'I look. I see.']) {
      await tell(claim, text);
      await until(() => [...platform.shown.values()][0] === `Working…\n\n${text}`, text);
    }
    await answer(claim, 'one|two');
    await until(() => platform.shown.size === 0, 'it is taken away');
    assert.deepEqual(platform.done, [
      'post Working…',
      'edit Working…\n\nI look.',
      'edit Working…\n\nI look. I see.',
      'send one',
      'send two',
      'remove',
    ]);
    await until(async () => !(await isKept(talker.agentId)), 'nothing is kept of it');
  });
});

test('a short turn shows nothing, and one that is stopped leaves nothing', async () => {
  await working(async ({ platform, claim }) => {
    await answer(claim, 'quick');
    await until(() => platform.sent.length === 1, 'the answer');
    await platform.open[0]!.received([said('more')]);
    const next = await claimed();
    await until(() => platform.shown.size === 1, 'progress');
    await answer(next, null);
    await until(() => platform.shown.size === 0, 'it is taken away');
    assert.deepEqual(platform.done, ['send quick', 'post Working…', 'remove']);
  });
});

for (const [what, misbehave] of [
  ['hangs', () => new Promise<never>(() => undefined)],
  ['is limited for an hour', () => fails('retry', 3_600_000)],
  ['is refused', () => fails('refused')],
  ['is unclear', () => fails('unknown')],
] as const) {
  test(`an answer is sent at once and once where progress ${what}, which is posted no second time`, async () => {
    await working(
      async ({ platform, claim }) => {
        await until(() => posts(platform) === 1, 'a post');
        await sleep(500);
        const from = performance.now();
        await answer(claim, 'the answer');
        await until(() => platform.sent.length > 0, 'the answer');
        assert.ok(performance.now() - from < 2_000, `${performance.now() - from} ms`);
        await sleep(500);
        assert.equal(platform.sent.length, 1);
        assert.equal(posts(platform), 1);
      },
      (platform) => {
        platform.onProgress = misbehave;
      },
    );
  });
}

test('a channel whose platform wants an hour of rest keeps no other channel from showing progress', async () => {
  await working(async ({ platform }) => {
    platform.onProgress = (what) => fails(what === 'post' ? 'retry' : 'unknown', 3_600_000);
    await until(() => posts(platform) === 1, 'a post');
    platform.onProgress = () => Promise.resolve();
    // Another conversation waits for the rest to end.
    await platform.open[0]!.received([said('this too', { conversation: { id: 'c2', kind: 'direct', title: null } })]);
    await claimed();
    await sleep(1_000);
    await world.addAgent();
    await until(() => platform.open.length === 2, 'another connection');
    await platform.open[1]!.received([said('work here')]);
    await claimed();
    const from = performance.now();
    await until(() => posts(platform) === 2, 'the progress of the other');
    assert.ok(performance.now() - from < 5_000, `${performance.now() - from} ms`);
  });
});

test('a message that can be neither edited nor taken away is forgotten, and the next turn shows its own', async () => {
  await working(
    async ({ platform, claim, talker }) => {
      await until(() => platform.shown.size === 1, 'progress');
      await tell(claim, 'More.');
      await answer(claim, 'done');
      await until(async () => platform.sent.length === 1 && !(await isKept(talker.agentId)), 'it is forgotten');
      platform.onProgress = () => Promise.resolve();
      await platform.open[0]!.received([said('again')]);
      await claimed();
      await until(() => posts(platform) === 2, 'the next progress');
    },
    (platform) => {
      platform.onProgress = (what) => (what === 'post' ? Promise.resolve() : fails('refused'));
    },
  );
});

test('what a relay leaves when it is killed in a turn is taken away by the next one, with the answer sent once', async () => {
  await world.query('update channels set enabled = false');
  const { agentId, bot } = await world.addAgent();
  world.startRelay(0, { ...quick, leaseMs: 3_000, renewEveryMs: 500, marginMs: 700 });
  await until(() => bot.isPolled, 'a poll');
  bot.userWrites({ text: 'work' });
  const claim = await claimed();
  await until(async () => bot.shown.size === 1 && (await isKept(agentId)), 'progress');
  await world.killRelay(0);
  await answer(claim, 'the answer');
  await until(() => bot.sent.some(({ isSilent }) => !isSilent), 'the answer');
  await until(() => bot.shown.size === 1, 'it is taken away');
  assert.deepEqual(
    [...bot.shown.values()].map(({ text }) => text),
    ['the answer'],
  );
  assert.equal(bot.sent.filter(({ isSilent }) => isSilent).length, 1);
  assert.equal(bot.sent.filter(({ isSilent }) => !isSilent).length, 1);
  await until(async () => !(await isKept(agentId)), 'nothing is kept of it');
  await world.endRelays();
});
