/** README's round by each hand, with fake machines; `packages/runtimes/conformance/hands.test.ts` has real ones. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openWorld } from '../e2e/api/world.ts';
import type { World } from '../e2e/api/world.ts';
import { hands, playHand } from './round/play.ts';
import type { Hand } from './round/play.ts';

let world: World;
before(async () => {
  world = await openWorld({ withGuest: true });
});
after(() => world?.close());

for (const hand of Object.keys(hands) as Hand[]) {
  test(`README's round by ${hand}`, async () => {
    const { url, key } = world;
    const printed = await playHand(hand, {
      url,
      key,
      name: 'Ada',
      model: 'anthropic/claude-sonnet-5',
      provider: 'anthropic',
      providerKey: 'sk-ant-1',
      question: 'Hello',
      again: 'And now?',
      written: 'notes.md',
    });
    assert.match(printed, /plum[^]*1 notes\.md[^]*running[^]*# Notes[^]*plum/);
    const { data } = (await (await fetch(`${url}/v1/agents`, { headers: { 'x-api-key': key } })).json()) as any;
    assert.deepEqual(data, []);
  });
}
