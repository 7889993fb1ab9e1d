import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Lease } from '@lodge/ports';
import { agentWithChannel, inbound, leasesOf } from '../testing/channel-fixture.ts';
import { firstAccount } from '../testing/fixture.ts';
import { testStore } from '../testing/test-store.ts';

const { store } = await testStore();
const accountId = await firstAccount(store.database);

/** Creates an agent that received this many files. */
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

test('a file is needed until its message has had its turn or its part is sent, and as long as a retry may want it', async () => {
  const id = await agentWithChannel(store, accountId);
  const [lease] = await leasesOf(store, [id]);
  const { relay, channelTurns: turns } = store;
  const needed = async (): Promise<string> => {
    const keys = ['came', 'goes', 'goes too', 'stray'];
    const unneeded = await relay.unneededFiles(keys);
    return keys.filter((key) => !unneeded.includes(key)).join();
  };
  const goes = { name: 'f', mediaType: 'm', bytes: 1 };
  const answer = { text: '', files: ['goes', 'goes too'].map((key) => ({ ...goes, key })) };
  const turn = async (result: Parameters<typeof turns.answer>[1]): Promise<void> => {
    const claims = await turns.claim({ holder: 'h', limit: 99, perAgent: 9, leaseMs: 60_000 });
    assert.ok(
      await turns.answer(
        claims.find(({ agentId }) => agentId === id)!,
        result,
      ),
    );
  };
  const retry = async (): Promise<void> => {
    const [message] = await store.channels.messages({ accountId, agentId: id, limit: 1 });
    await store.channels.retry(accountId, id, message!.id);
  };
  await receiveFiles(lease!, 1);
  const [file] = await relay.filesToFetch([lease!], 9);
  await relay.fetched(lease!, file!.id, { key: 'came', bytes: 1 });
  assert.equal(await needed(), 'came');
  await turn({ outcome: 'failed', reason: 'It failed.', answer: null });
  assert.equal(await needed(), 'came');
  await retry();
  await turn({ outcome: 'answered', reason: null, answer });
  assert.equal(await needed(), 'goes,goes too');
  const part = async () => (await relay.partsToSend([lease!], 9))[0]!;
  const first = await part();
  await relay.sending(lease!, first.id);
  assert.equal(await relay.sent(lease!, first.id, 'p1'), 'goes');
  assert.equal(await relay.sent(lease!, first.id, 'p1'), null);
  assert.equal(await needed(), 'goes too');
  await relay.sendFailed(lease!, (await part()).id, 'failed', 'It failed.');
  assert.equal(await needed(), 'goes too');
  await retry();
  const again = await part();
  await relay.sending(lease!, again.id);
  await relay.sent(lease!, again.id, 'p2');
  assert.equal(await needed(), '');
  // Nobody retries an answer to no message.
  const to = { accountId, agentId: id, channel: 'telegram', conversationId: 'c1' } as const;
  await store.channels.queue(to, { text: '', files: [{ ...goes, key: 'goes' }] });
  assert.equal(await needed(), 'goes');
  await relay.sendFailed(lease!, (await part()).id, 'failed', 'It failed.');
  assert.equal(await needed(), '');
});
