import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { testStore } from '../testing/test-store.ts';

const { store, another } = await testStore();
const other = await another();

test('every relay hears of each mailbox, who tells of it too', async () => {
  const heard = [store, other].map(({ mailboxNotices }) => {
    const addresses: (string | null)[] = [];
    mailboxNotices.on((address) => addresses.push(address));
    return addresses;
  });
  const addresses = ['ann@example.com', `ü'"\\@${'x'.repeat(300)}.example`];
  await store.mailboxNotices.tell(addresses);
  await store.mailboxNotices.tell([]);
  for (let tries = 0; tries < 200 && heard.some((each) => each.length < 2); tries += 1) await sleep(20);
  assert.deepEqual(heard, [addresses, addresses]);
});

test('who has ended hears nothing', async () => {
  const addresses: (string | null)[] = [];
  store.mailboxNotices.on((address) => addresses.push(address))();
  const known = Promise.withResolvers<void>();
  const end = store.mailboxNotices.on(() => known.resolve());
  await other.mailboxNotices.tell(['bob@example.com']);
  await known.promise;
  end();
  assert.deepEqual(addresses, []);
});
