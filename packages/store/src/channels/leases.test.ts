import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openedState } from '@lodge/domain';
import type { ChannelAccess } from '@lodge/domain';
import { LeaseLost } from '@lodge/ports';
import type { Lease } from '@lodge/ports';
import { execute } from '@lodge/testkit/postgres';
import { agentWithChannel, inbound, leasesOf, openAccess } from '../testing/channel-fixture.ts';
import { firstAccount } from '../testing/fixture.ts';
import { testStore } from '../testing/test-store.ts';
import { findChannel } from './channel-row.ts';
import { deleteChannel, reopenChannel } from './channels.ts';

const { database, store, another } = await testStore();
const other = await another();
const accountId = await firstAccount(store.database);
const lease = async (id: string): Promise<Lease> => (await leasesOf(store, [id]))[0]!;
const expire = (id: string) =>
  execute(
    database.connectionString,
    `update channels set lease_until = clock_timestamp() - interval '1 ms' where agent_id = '${id}'`,
  );

test('of relays that ask at once each channel has one', async () => {
  const ids: string[] = [];
  for (let n = 0; n < 20; n += 1) ids.push(await agentWithChannel(store, accountId));
  const taken = await Promise.all(
    Array.from({ length: 8 }, (_, n) =>
      [store, other][n % 2]!.relay.acquire({ relay: `r${n}`, channels: ['telegram'], limit: 10, leaseMs: 60_000 }),
    ),
  );
  const all = taken.flat().map(({ agentId }) => agentId);
  assert.equal(new Set(all).size, all.length);
  const rest = await store.relay.acquire({ relay: 'r', channels: ['telegram'], limit: 100, leaseMs: 60_000 });
  assert.deepEqual([...all, ...rest.map(({ agentId }) => agentId)].toSorted(), ids.toSorted());
});

test('a lease has credentials, access and place; it ends by itself, and the next one has a higher number', async () => {
  const id = await agentWithChannel(store, accountId);
  const first = await lease(id);
  assert.deepEqual(first.credentials, { botToken: 'sealed token' });
  assert.deepEqual([first.access, first.cursor, first.accountId], [openAccess, null, accountId]);
  await store.relay.moveTo(first, { offset: 5 });
  assert.deepEqual(await leasesOf(other, [id]), []);
  await expire(id);
  const [second] = await leasesOf(other, [id]);
  assert.equal(second!.number, first.number + 1);
  assert.deepEqual(second!.cursor, { offset: 5 });
});

test('an earlier holder writes nothing: messages, place, keys, state, files, parts', async () => {
  const id = await agentWithChannel(store, accountId);
  const old = await lease(id);
  await store.relay.receive(old, [
    inbound({ files: [{ ref: 'r', name: 'f', mediaType: 'm', bytes: 1, kind: 'file' }] }),
  ]);
  const [file] = await store.relay.filesToFetch([old], 1);
  await store.channels.say({ accountId, agentId: id, channel: 'telegram', conversationId: 'c1' }, 'hello');
  const [part] = await store.relay.partsToSend([old], 1);
  await store.relay.split(old, part!.id, [{ text: 'hello', format: null }]);
  await expire(id);
  const writes: (() => Promise<unknown>)[] = [
    () => store.relay.receive(old, [inbound()]),
    () => store.relay.receive(old, []),
    () => store.relay.moveTo(old, { offset: 9 }),
    () => store.relay.keep(old, { refreshToken: 's' }),
    () => store.relay.vaultGet(old, 'session', ['1']),
    () => store.relay.vaultSet(old, [{ type: 'session', id: '1', sealed: 's' }]),
    () => store.relay.vaultClear(old),
    () => store.relay.fetched(old, file!.id, { key: 'k', bytes: 1 }),
  ];
  for (const isTaken of [false, true]) {
    if (isTaken) assert.equal((await leasesOf(store, [id])).length, 1);
    for (const write of writes) await assert.rejects(write, LeaseLost);
    assert.equal(await store.relay.changed(old, { status: 'connecting' }, null), false);
    assert.deepEqual(await store.relay.renew([old], 1_000), []);
    assert.equal(await store.relay.sending(old, part!.id), false);
    assert.deepEqual(await store.relay.partsToSend([old], 9), []);
    assert.deepEqual(await store.relay.filesToFetch([old], 9), []);
  }
  await store.relay.release(old);
  assert.deepEqual(await leasesOf(store, [id]), [], 'the release of an earlier holder frees nothing');
});

test('a lease that is renewed goes on; one whose channel is wanted otherwise is not renewed, and free after its release', async () => {
  const change = async (id: string, how: string): Promise<unknown> => {
    if (how === 'restart')
      return store.database.transaction((trx) =>
        reopenChannel(trx, { accountId, agentId: id, channel: 'telegram' }, openedState('telegram', true, true)),
      );
    if (how === 'remove')
      return store.database.transaction((trx) => deleteChannel(trx, { accountId, agentId: id, channel: 'telegram' }));
    if (how === 'delete') return store.agents.markDeleted(accountId, id);
    const put = { accountId, agentId: id, channel: 'telegram' as const, access: openAccess };
    const credentials = how === 'put' ? [{ name: 'botToken', sealed: 'another', last4: '' }] : [];
    return store.channels.put({ ...put, credentials, enabled: how !== 'disable' });
  };
  for (const how of ['restart', 'put', 'disable', 'remove', 'delete']) {
    const id = await agentWithChannel(store, accountId);
    const held = await lease(id);
    assert.deepEqual(
      (await store.relay.renew([held], 60_000)).map(({ number }) => number),
      [held.number],
    );
    await change(id, how);
    assert.deepEqual(await store.relay.renew([held], 60_000), [], how);
    assert.deepEqual(await leasesOf(store, [id]), [], `${how}: its holder has not ended yet`);
    await store.relay.release(held);
    assert.equal((await leasesOf(store, [id])).length, how === 'restart' || how === 'put' ? 1 : 0, how);
  }
});

test('a channel in error is taken after its owner has changed or restarted it, never before', async () => {
  const id = await agentWithChannel(store, accountId);
  const held = await lease(id);
  const reason = { code: 'revoked', message: 'The token was revoked.' } as const;
  await store.relay.changed(held, { status: 'error', reason }, null);
  await store.relay.release(held);
  assert.deepEqual(await leasesOf(store, [id]), []);
  await store.database.transaction((trx) =>
    reopenChannel(trx, { accountId, agentId: id, channel: 'telegram' }, openedState('telegram', true, true)),
  );
  const again = await lease(id);
  assert.equal(again.revision, held.revision + 1);
  assert.equal(await store.relay.changed(held, { status: 'connecting' }, null), false);
});

test('two relays that take, renew, lose and write at random never both write under a lease in force', async () => {
  await leasesOf(store, []);
  const id = await agentWithChannel(store, accountId);
  const end = Date.now() + 4_000;
  let writes = 0;
  const run = async (of: typeof store, name: string): Promise<void> => {
    while (Date.now() < end) {
      const leaseMs = 5 + Math.floor(Math.random() * 600);
      const [held] = await of.relay.acquire({ relay: name, channels: ['telegram'], limit: 1, leaseMs });
      if (held === undefined) continue;
      for (let n = 0; n < 3; n += 1) {
        const written = await of.relay.receive(held, [inbound({ text: String(held.number) })]).then(
          () => 1,
          (error: unknown) => (assert.ok(error instanceof LeaseLost), 0),
        );
        writes += written;
        await sleep(Math.random() * 15);
        if (Math.random() < 0.5) await of.relay.renew([held], leaseMs);
      }
    }
  };
  await Promise.all([run(store, 'a'), run(other, 'b'), run(store, 'c')]);
  const rows = await execute<{ text: string }>(
    database.connectionString,
    `select text from channel_messages where agent_id = '${id}' order by seq`,
  );
  assert.equal(rows.length, writes);
  assert.ok(writes > 0);
  const numbers = rows.map(({ text }) => Number(text));
  assert.deepEqual(
    numbers,
    numbers.toSorted((a, b) => a - b),
    'what an earlier number wrote lies before what a later one did',
  );
});

test('a channel whose relay has died says so', async () => {
  const id = await agentWithChannel(store, accountId);
  const held = await lease(id);
  await store.relay.changed(held, { status: 'connected', identity: { id: '1', name: 'bot' } }, null);
  await execute(
    database.connectionString,
    `update channels set lease_until = clock_timestamp() - interval '40 s' where agent_id = '${id}'`,
  );
  const row = await store.database.repeatable((db) => findChannel(db, { accountId, agentId: id, channel: 'telegram' }));
  assert.deepEqual([row!.status, row!.statusReason!.code], ['disconnected', 'relay_down']);
});

test('who held a channel that was removed and put again holds nothing of it', async () => {
  const id = await agentWithChannel(store, accountId);
  const old = await lease(id);
  await store.database.transaction((trx) => deleteChannel(trx, { accountId, agentId: id, channel: 'telegram' }));
  const put = {
    accountId,
    agentId: id,
    channel: 'telegram' as const,
    enabled: true,
    access: openAccess,
    credentials: [],
  };
  await store.channels.put(put);
  const now = await lease(id);
  assert.deepEqual(await store.relay.renew([old], 1_000), []);
  await assert.rejects(store.relay.receive(old, [inbound()]), LeaseLost);
  await store.relay.release(old);
  assert.deepEqual(
    (await store.relay.renew([now], 60_000)).map(({ number }) => number),
    [now.number],
  );
});

test('once a channel is put anew, its holder commits no message and no place: they may be of another account', async () => {
  const id = await agentWithChannel(store, accountId);
  const old = await lease(id);
  const put = {
    accountId,
    agentId: id,
    channel: 'telegram' as const,
    enabled: true,
    access: openAccess,
    credentials: [],
  };
  await store.channels.put({ ...put, accountKey: `other-${id}` });
  await assert.rejects(store.relay.receive(old, [inbound()], { offset: 900 }), LeaseLost);
  await assert.rejects(store.relay.moveTo(old, { offset: 900 }), LeaseLost);
  await assert.rejects(store.relay.vaultSet(old, [], [inbound()]), LeaseLost);
  await store.relay.release(old);
  assert.equal((await lease(id)).cursor, null);
  assert.deepEqual(await store.channels.messages({ accountId, agentId: id, limit: 9 }), []);
});

test('an account that is known only once it is connected is no other one, and keeps what waits', async () => {
  const id = await agentWithChannel(store, accountId, { accountKey: `unverified/${randomUUID()}` });
  const held = await lease(id);
  assert.equal(held.isUnverified, true);
  await store.relay.moveTo(held, { offset: 5 });
  await store.relay.receive(held, [inbound()]);
  const connected = { status: 'connected', identity: { id: 'B', name: 'bot' } } as const;
  assert.equal(await store.relay.changed(held, connected, null, `T/${id}`), true);
  assert.deepEqual(
    (await store.channels.messages({ accountId, agentId: id, limit: 9 })).map(({ state }) => state),
    ['received'],
  );
  await store.relay.release(held);
  const next = await lease(id);
  assert.deepEqual([next.isUnverified, next.cursor], [false, { offset: 5 }]);
});

test('of channels whose accounts nobody verified the one that connects has the account, and the other is told', async () => {
  const key = () => `unverified/${randomUUID()}/777`;
  const [first, second] = [
    await agentWithChannel(store, accountId, { accountKey: key() }),
    await agentWithChannel(store, accountId, { accountKey: key() }),
  ];
  const [early, late] = await leasesOf(store, [second, first]);
  const connected = { status: 'connected', identity: { id: '777', name: 'bot' } } as const;
  assert.equal(await store.relay.changed(early!, connected, null, '777'), true);
  assert.equal(await store.relay.changed(late!, connected, null, '777'), 'conflict');
  const taken = await store.database.repeatable((db) =>
    findChannel(db, { accountId, agentId: first, channel: 'telegram' }),
  );
  assert.deepEqual([taken!.status, taken!.statusReason!.code], ['error', 'used_elsewhere']);
});

test('another list of who may write holds at once, and the connection stays; what it hears is a connection of its own', async () => {
  const id = await agentWithChannel(store, accountId);
  const held = await lease(id);
  const connected = { status: 'connected', identity: { id: '1', name: 'bot' }, note: 'as it is' } as const;
  await store.relay.changed(held, connected, null);
  const put = (access: ChannelAccess) =>
    store.channels.put({ accountId, agentId: id, channel: 'telegram', enabled: true, access, credentials: [] });
  const change = await put({ ...openAccess, mode: 'allowlist', allowFrom: ['friend'] });
  assert.ok(typeof change === 'object');
  const { status, note, revision, identity } = change.row;
  assert.deepEqual([status, note, revision, identity!.id], ['connected', 'as it is', held.revision, '1']);
  assert.equal((await store.relay.renew([held], 60_000)).length, 1);
  await store.relay.receive(held, [inbound(), inbound({ sender: { id: 'friend' } })]);
  assert.deepEqual(
    (await store.channels.messages({ accountId, agentId: id, limit: 9 })).map((row) => [row.senderId, row.state]),
    [
      ['friend', 'received'],
      ['u1', 'refused'],
    ],
  );
  await put({ ...openAccess, groups: { ...openAccess.groups, requireMention: true } });
  assert.deepEqual(await store.relay.renew([held], 60_000), []);
});

test('what a connection keeps is bounded by channel, whatever is put in the place of what', async () => {
  const id = await agentWithChannel(store, accountId);
  const [lease] = await leasesOf(store, [id]);
  const value = (n: number, sealed: string | null) => ({ type: 't', id: `${n}`, sealed });
  const sizes = async (): Promise<unknown> => {
    const [row] = await execute<{ items: number; bytes: string; same: boolean }>(
      database.connectionString,
      `select vault_values as items, vault_bytes as bytes, (vault_values, vault_bytes) = (
         select count(*), coalesce(sum(octet_length(sealed)), 0) from channel_vault v where v.agent_id = c.agent_id
       ) as same from channels c where agent_id = '${id}'`,
    );
    assert.ok(row!.same);
    return [row!.items, Number(row!.bytes)];
  };
  await store.relay.vaultSet(lease!, [value(1, 'abc'), value(2, 'ä'), value(2, 'äö'), value(3, null)]);
  assert.deepEqual(await sizes(), [2, 7]);
  await store.relay.vaultSet(lease!, [value(1, 'a'), value(2, null)]);
  assert.deepEqual(await sizes(), [1, 1]);
  // It writes as much as one call may, repeatedly. A plan that reads each row for each value would take minutes.
  for (const sealed of ['a', 'b', null]) {
    for (const from of [0, 10_000]) {
      await store.relay.vaultSet(
        lease!,
        Array.from({ length: 10_000 }, (_, n) => value(from + n, sealed)),
      );
    }
    assert.deepEqual(await sizes(), sealed === null ? [0, 0] : [20_000, 20_000]);
  }
  await store.relay.vaultSet(lease!, [value(1, 'a')]);
  // The counts after as many earlier writes.
  const nearly = (column: string, most: number) =>
    execute(database.connectionString, `update channels set ${column} = ${most - 10} where agent_id = '${id}'`);
  await nearly('vault_bytes', 128 * 2 ** 20);
  await assert.rejects(store.relay.vaultSet(lease!, [value(1, 'x'.repeat(12))]), RangeError);
  await store.relay.vaultSet(lease!, [value(1, 'x'.repeat(11))]);
  await store.relay.vaultClear(lease!);
  await nearly('vault_values', 100_000);
  const eleven = Array.from({ length: 11 }, (_, n) => value(n, ''));
  await assert.rejects(store.relay.vaultSet(lease!, eleven), RangeError);
  await store.relay.vaultSet(lease!, eleven.slice(1));
  await store.relay.vaultClear(lease!);
  assert.deepEqual(await sizes(), [0, 0]);
});
