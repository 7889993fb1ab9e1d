/**
 * README's round by the command line, by JavaScript and by Python, each with a real OpenClaw in a real machine of its own. The
 * model's provider is a stub.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { hands, playHand } from '../../../tests/hands/round/play.ts';
import type { Hand } from '../../../tests/hands/round/play.ts';
import { isLongRun } from '@lodge/testkit/forms';
import { allRuntimes } from '../src/index.ts';
import { openclaw } from './subjects.ts';
import { templateOf } from './templates.ts';
import { openWorld, templateTimeoutMs } from './world.ts';
import type { World } from './world.ts';

const roundMs = 15 * 60_000;
let world: World;
before(
  async () => {
    const isWarm = (await templateOf(allRuntimes().get(openclaw.kind)!)) === 'full';
    world = await openWorld(openclaw, isWarm ? {} : { CONFORMANCE_EARLY: 'alone' });
    await world.service.awaitTemplate(templateTimeoutMs, openclaw.name);
  },
  { timeout: 2 * templateTimeoutMs },
);
after(() => world?.close());

/** The dashboard does the same by the JavaScript SDK, in `browser.test.ts`, and `tests/hands` has every hand against an API. */
const isProvedElsewhere = (hand: Hand): boolean => hand !== 'the command line' && !isLongRun;
for (const hand of (Object.keys(hands) as Hand[]).filter((hand) => !isProvedElsewhere(hand))) {
  test(`README's round by ${hand}`, { timeout: roundMs }, async () => {
    const { llm, keys, service } = world;
    llm.reset();
    const haiku = `by ${hand}, ${randomBytes(6).toString('hex')}`;
    const command = openclaw.shell(`printf '%s\\n' '${haiku}' > /workspace/haiku.txt`);
    llm.script([{ toolCalls: [command] }, { text: 'It is written.' }, { text: 'A haiku.' }]);
    const round = {
      url: new URL(service.baseUrl).origin,
      key: service.apiKey,
      name: `By ${hand}`,
      model: openclaw.model('test-model'),
      provider: 'stub',
      providerKey: keys[0],
      question: 'Write a haiku into /workspace/haiku.txt',
      again: 'What did I ask for?',
      written: 'haiku.txt',
    };
    const printed = await playHand(hand, round, roundMs).catch((error: Error) =>
      assert.fail(`${error.message}\n${service.output.slice(-4_000)}`),
    );
    for (const said of ['It is written.', '1 notes.md', haiku, 'A haiku.']) assert.ok(printed.includes(said), printed);
    assert.match(JSON.stringify(llm.requests.at(-1)!.body), /Write a haiku/, 'it remembers the first message');
    assert.deepEqual((await service.call('GET', '/agents')).body.data, [], 'it is deleted');
  });
}
