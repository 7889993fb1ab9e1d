import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Lease } from '@lodge/ports';
import { agentWithChannel, inbound, leasesOf } from '../testing/channel-fixture.ts';
import { firstAccount } from '../testing/fixture.ts';
import { testStore } from '../testing/test-store.ts';

const { store } = await testStore();
const accountId = await firstAccount(store.apiKeys);

/** An agent to whom so many files were sent. */
async function sentFiles(count: number, given: Parameters<typeof agentWithChannel>[2] = {}): Promise<Lease> {
  const id = await agentWithChannel(store, accountId, given);
  const [lease] = await leasesOf(store, [id]);
  await receiveFiles(lease!, count);
  return lease!;
}

const receiveFiles = (lease: Lease, count: number): Promise<void> =>
  store.relay.receive(
    lease,
    Array.from({ length: count }, (_, n) =>
      inbound({ files: [{ ref: `${n}`, name: 'f', mediaType: 'm', bytes: 1, kind: 'file' }] }),
    ),
  );

test("an agent's flood of files leaves places for others, whatever came first", async () => {
  const flood = await sentFiles(50);
  const [one, two] = [await sentFiles(3), await sentFiles(1)];
  const leases = [flood, one, two];
  const given = async (limit: number, underWay: readonly string[] = []): Promise<string[]> =>
    (await store.relay.filesToFetch(leases, limit, { perAgent: 2, underWay })).map(({ agentId }) => agentId).toSorted();
  const { agentId: f } = flood;
  const { agentId: a } = one;
  const { agentId: b } = two;
  assert.deepEqual(await given(3), [f, a, b].toSorted(), 'the first of each');
  assert.deepEqual(await given(5, [f, a, b]), [f, a].toSorted(), 'the second, and no third');
  assert.deepEqual(await given(5, [f, f, a]), [a]);
  assert.deepEqual(await given(5, [f, f]), []);
  assert.deepEqual(await given(5, [f]), [f]);
});

test('channels of one agent share its places', async () => {
  const lease = await sentFiles(5);
  const { agentId } = lease;
  const put = { accountId, agentId, channel: 'slack', enabled: true, access: lease.access, credentials: [] } as const;
  await store.channels.put({
    ...put,
    credentials: ['appToken', 'botToken'].map((name) => ({ name, sealed: 's', last4: '' })),
  });
  const slack = (await leasesOf(store, [agentId])).find(({ channel }) => channel === 'slack')!;
  await receiveFiles(slack, 5);
  const found = await store.relay.filesToFetch([lease, slack], 8, { perAgent: 2, underWay: [] });
  assert.equal(found.length, 2);
});
