import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { defaultCallBounds } from './bounds.ts';
import { Budget } from './budget.ts';
import { EchoSearch, Sought } from './secret/echo-search.ts';
import { startHostileServer } from './testing/hostile-server.ts';
import type { HostileServer } from './testing/hostile-server.ts';
import { known, other, startWorld } from './testing/world.ts';

let server: HostileServer;
before(async () => {
  server = await startHostileServer('unused');
});
after(() => server?.close());

test('whoever had more bytes than its share waits, as an agent and as an account, and nobody else does', async () => {
  const perSecond = 1_000;
  const budget = new Budget({ ...defaultCallBounds, answerBytesPerSecond: perSecond });
  const waits = async (accountId: string, agentId: string, bytes: number): Promise<boolean> => {
    const isOver = AbortSignal.timeout(200);
    return budget.pace({ accountId, agentId }, bytes, isOver).then(
      () => false,
      () => true,
    );
  };
  assert.equal(await waits('a', 'a1', 16 * perSecond), false, 'a burst');
  assert.equal(await waits('a', 'a1', 8 * perSecond), true);
  for (const agent of ['a2', 'a3']) assert.equal(await waits('a', agent, 16 * perSecond), false);
  assert.equal(await waits('a', 'a4', 8 * perSecond), true, 'the account has had its own');
  assert.equal(await waits('b', 'b1', 16 * perSecond), false);
  const began = performance.now();
  await budget.pace({ accountId: 'b', agentId: 'b1' }, perSecond / 2, AbortSignal.timeout(10_000));
  assert.ok(performance.now() - began > 100, 'it comes later');
});

test('answers that wait count as held bytes until the guest has them, and are refused beyond', async () => {
  const world = await startWorld({ callBounds: { heldBytesPerAgent: 200_000 } });
  try {
    for (const address of [known, other]) world.put(address, { name: 'notes', url: server.url });
    const get = (address: string, how: string) =>
      world.broker.fetchFrom(address)(`${world.broker.url}/connections/notes/allowed/${how}`);
    assert.equal((await get(known, 'endless')).status, 429);
    for (const address of [known, other]) assert.equal((await get(address, 'ok')).status, 200, 'all was given back');
  } finally {
    await world.close();
  }
});

test('a large answer is looked through in small steps, with other work in between', async () => {
  const search = new EchoSearch(new Sought(['a'.repeat(40)]));
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  count();
  const before = process.cpuUsage();
  await search.pushInSteps('agent', Buffer.alloc(2 * 2 ** 20, 'a1'));
  isOver = true;
  const { user, system } = process.cpuUsage(before);
  assert.ok(turns > (user + system) / 1_000 / 10, `${turns} loop turns for ${(user + system) / 1_000} ms of work`);
});
