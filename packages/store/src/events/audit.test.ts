import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { AuditEvent, AuditQuery, NewEvent } from '@lodge/ports';
import { firstAccount } from '../testing/fixture.ts';
import { testStore } from '../testing/test-store.ts';
import { insertLink } from '../accounts/links.ts';
import type { Transaction } from '../database/database.ts';
import { appendEvent } from './append.ts';

const { store } = await testStore();
const accountId = await firstAccount(store.database);

const by = { actor: { kind: 'api_key', id: 'k1' }, address: '192.0.2.1', requestId: 'req_1' } as const;
const event = (name: string): NewEvent => ({
  type: 'api_key.created',
  data: { name, last4: '9f2c', scopes: ['agents:read'], expires_at: null },
  accountId,
  agentId: null,
  by,
  target: { kind: 'api_key', id: 'k2' },
});
const nameOf = ({ details }: AuditEvent): string => String(details.name);

/** A change that waits for no other. */
const change = (trx: Transaction) =>
  insertLink(trx, { kind: 'invite', accountId, hash: randomBytes(32), lifetimeSeconds: 60 });

test('an event is read as it was written', async () => {
  await store.database.transaction(async (trx) => {
    await change(trx);
    await appendEvent(trx, event('one'));
  });
  const [read] = await store.events.audit({ accountId, limit: 1, direction: 'desc' });
  const { id, at, ...rest } = read!;
  assert.equal(typeof id, 'bigint');
  assert.ok(Math.abs(at.getTime() - Date.now()) < 60_000);
  const { type: action, data: details, target } = event('one');
  assert.deepEqual(rest, { accountId, ...by, action, details, target });
  assert.deepEqual(await store.events.audit({ accountId: 'other', limit: 10, direction: 'asc' }), []);
});

test('a page has only what its filters name', async () => {
  const key = { actor: { kind: 'api_key', id: 'k9' }, address: '192.0.2.1', requestId: 'req_2' } as const;
  const of = { accountId, agentId: null, by: key } as const;
  const events: readonly NewEvent[] = [
    { ...event('filtered'), by: key },
    { ...of, type: 'webhook.removed', data: {}, target: { kind: 'webhook', id: 'w1' } },
    { ...of, type: 'invitation.ended', data: {}, target: { kind: 'invitation', id: 'i1' } },
  ];
  for (const each of events) {
    await store.database.transaction(async (trx) => {
      await change(trx);
      await appendEvent(trx, each);
    });
  }
  const actions = async (filters: Omit<AuditQuery, 'accountId' | 'limit' | 'direction'>): Promise<readonly string[]> =>
    (await store.events.audit({ accountId, limit: 10, direction: 'asc', actorId: 'k9', ...filters })).map(
      ({ action }) => action,
    );
  assert.deepEqual(await actions({}), ['api_key.created', 'webhook.removed', 'invitation.ended']);
  assert.deepEqual(await actions({ action: 'webhook.*' }), ['webhook.removed']);
  assert.deepEqual(await actions({ action: 'apixkey.*' }), [], 'no letter of a family stands for another');
  assert.deepEqual(await actions({ action: 'invitation.ended', actorKind: 'api_key' }), ['invitation.ended']);
  assert.deepEqual(await actions({ actorKind: 'account' }), []);
  assert.deepEqual(await actions({ targetId: 'i1' }), ['invitation.ended']);
  assert.deepEqual(await actions({ targetId: 'w1', action: '*' }), ['webhook.removed']);
});

test('an event of a change that is rolled back is not there', async () => {
  const failing = store.database.transaction(async (trx) => {
    await change(trx);
    await appendEvent(trx, event('vanished'));
    throw new Error('rolled back');
  });
  await assert.rejects(failing, /rolled back/);
  const events = await store.events.audit({ accountId, limit: 100, direction: 'asc' });
  assert.ok(!events.some((read) => nameOf(read) === 'vanished'));
});

test('a reader who pages forward while 8 write at once misses none and sees none twice', async () => {
  const writers = 8;
  const each = 40;
  let writing = true;
  const written = Promise.all(
    Array.from({ length: writers }, async (_, w) => {
      for (let n = 0; n < each; n++) {
        await store.database.transaction(async (trx) => {
          await change(trx);
          await appendEvent(trx, event(`w${w}_${n}`));
          // Without the lock, commits would come in another order than the ids.
          if (n % 3 === 0) await new Promise((resolve) => setTimeout(resolve, Math.random() * 4));
        });
      }
    }),
  ).finally(() => (writing = false));
  const seen: string[] = [];
  let from: bigint | undefined;
  for (let more = true; more;) {
    more = writing;
    const page = await store.events.audit({
      accountId,
      limit: 7,
      direction: 'asc',
      ...(from !== undefined && { from }),
    });
    more ||= page.length > 0;
    seen.push(...page.map(nameOf).filter((name) => name.startsWith('w')));
    from = page.at(-1)?.id ?? from;
  }
  await written;
  assert.equal(seen.length, writers * each);
  assert.equal(new Set(seen).size, writers * each);
});
