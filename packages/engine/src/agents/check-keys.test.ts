import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { FakeHost } from '@lodge/vm/fake';
import { World, input, startPlane } from '../../../testkit/src/plane/plane.ts';
import type { Plane } from '../../../testkit/src/plane/plane.ts';

/** The keys with which the provider was asked. */
const asked: string[] = [];
let world: World;
let plane: Plane;
before(async () => {
  world = await World.open();
  plane = await startPlane(world, new FakeHost(), {
    keyChecker: {
      async check(provider, key) {
        asked.push(`${provider} ${key}`);
        if (key.startsWith('bad')) return { works: false, message: 'P does not accept the key.' };
        return { works: key.startsWith('good') ? true : null, message: 'P said so.' };
      },
    },
  });
});
after(async () => {
  await plane.end();
  await world.close();
});

const withKey = (apiKey: string, checkKeys: boolean) => ({ ...input, llmKeys: [{ provider: 'p', apiKey }], checkKeys });

test('a create that asks for it is refused for a key that does not work, and leaves nothing', async () => {
  const refused = plane.agents.create(world.accountId, withKey('bad-key', true));
  await assert.rejects(refused, {
    code: 'invalid_request',
    message: 'llm_keys[0].api_key: P does not accept the key.',
  });
  assert.equal((await plane.agents.count(world.accountId)).all, 0);
  for (const [key, check] of [
    ['good-key', true],
    ['unknown-key', true],
    ['bad-key', false],
  ] as const) {
    assert.equal((await plane.agents.create(world.accountId, withKey(key, check))).status, 'provisioning', key);
  }
  assert.deepEqual(asked, ['p bad-key', 'p good-key', 'p unknown-key'], 'one that does not ask is not checked');
});

test("an agent's own keys are checked as they are now, and another account's agent is not there", async () => {
  const { id } = await plane.agents.create(world.accountId, withKey('good-key-0123456789', false));
  const check = () => plane.agents.checkKeys(world.accountId, id);
  assert.deepEqual(await check(), [{ provider: 'p', last4: '6789', works: true, message: 'P said so.' }]);
  await plane.agents.update(world.accountId, id, { llmKeys: [{ provider: 'p', apiKey: 'bad-key-0123456789' }] });
  assert.equal((await check())[0]!.works, false, 'the key that was put in its place');
  await assert.rejects(plane.agents.checkKeys('another', id), { code: 'agent_not_found' });
});
