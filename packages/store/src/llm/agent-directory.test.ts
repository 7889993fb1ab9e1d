import assert from 'node:assert/strict';
import { test } from 'node:test';
import { execute, testDatabase } from '@lodge/testkit/postgres';
import { admitAll, firstAccount, newAgent, silent } from '../testing/fixture.ts';
import { testStore } from '../testing/test-store.ts';
import { updateAccount } from '../accounts/accounts.ts';
import { openTestStore } from '../testing/agents-fixture.ts';

const { database, store } = await testStore();
const { agents } = store;
const directory = store.directoryOf('h');
const accountId = await firstAccount(store.database);

async function agentAt(address: string, given = {}) {
  const agent = await agents.create(newAgent(accountId, given), admitAll);
  await agents.lease(agent.id, 'h', 60_000);
  await agents.observe(agent.id, agent.generation, 'h', { vmAddress: address });
  return agent;
}

test('an agent is found by the address of its VM, with its sealed keys by provider', async () => {
  const llmKeys = [
    { provider: 'anthropic', sealed: 's1', last4: 'aaaa' },
    { provider: 'openai', sealed: 's2', last4: 'bbbb' },
  ];
  const agent = await agentAt('10.201.1.2', { llmKeys, model: 'openai/gpt-5' });
  const keyless = await agentAt('10.201.1.6');
  assert.deepEqual(await directory.byAddress('10.201.1.2'), {
    agentId: agent.id,
    accountId,
    runtimeKind: 'runtime_a',
    model: 'openai/gpt-5',
    confirmations: null,
    sealedKeys: { anthropic: 's1', openai: 's2' },
    keepsContents: false,
    models: null,
    spendLimited: false,
  });
  await store.database.transaction((trx) => updateAccount(trx, accountId, { recordLlmCalls: true }));
  assert.equal((await directory.byAddress('10.201.1.2'))!.keepsContents, true);
  assert.deepEqual((await directory.byAddress('10.201.1.6'))!.sealedKeys, {});
  assert.equal((await directory.byAddress('10.201.1.6'))!.agentId, keyless.id);
  for (const stranger of ['10.201.1.3', '', '10.201.1.2 ', "' or true --", '::ffff:10.201.1.2']) {
    assert.equal(await directory.byAddress(stranger), null);
  }
});

test('the models that an agent may call are its list and what its members have; without a list they are any', async () => {
  const agent = await agentAt('10.201.1.14', { models: ['openai/gpt-5-mini'] });
  const modelsOf = async () => (await directory.byAddress('10.201.1.14'))!.models;
  assert.deepEqual(await modelsOf(), ['openai/gpt-5-mini']);
  const member = (name: string, model: string | null) => ({ name, model, instructions: null, createdAt: new Date() });
  const members = [member('scout', 'p/scout'), member('plain', null), member('sage', 'p/sage')];
  await agents.change(accountId, agent.id, () => ({ members }));
  assert.deepEqual(await modelsOf(), ['openai/gpt-5-mini', 'p/scout', 'p/sage']);
  await agents.change(accountId, agent.id, () => ({ models: [] }));
  assert.deepEqual(await modelsOf(), ['p/scout', 'p/sage']);
  await agents.change(accountId, agent.id, () => ({ models: null }));
  assert.equal(await modelsOf(), null);
});

test("an agent is limited by its own limit, its account's, or the deployment's for either", async () => {
  const agent = await agentAt('10.201.1.18');
  const limit = { dailyUsd: '1', monthlyUsd: null, action: 'block' } as const;
  const limitTo = (spendLimit: string | null) =>
    store.database.transaction((trx) => updateAccount(trx, accountId, { spendLimit }));
  const limited = async (by = directory) => (await by.byAddress('10.201.1.18'))!.spendLimited;
  assert.equal(await limited(), false);
  await agents.change(accountId, agent.id, () => ({ spendLimit: limit }));
  assert.equal(await limited(), true);
  await agents.change(accountId, agent.id, () => ({ spendLimit: null }));
  assert.equal(await limited(), false);
  await limitTo(JSON.stringify(limit));
  assert.equal(await limited(), true);
  await limitTo(null);
  assert.equal(await limited(), false);
  for (const spendDefaults of [
    { agent: limit, account: null },
    { agent: null, account: limit },
  ]) {
    const other = await openTestStore({ ...database, log: silent, spendDefaults });
    assert.equal(await limited(other.directoryOf('h')), true);
    await other.close();
  }
});

test('an agent without a VM has no address, and a later one may have it', async () => {
  const first = await agentAt('10.201.1.10');
  await agents.observe(first.id, first.generation, 'h', { vmAddress: null });
  assert.equal(await directory.byAddress('10.201.1.10'), null);
  const second = await agentAt('10.201.1.10');
  assert.equal((await directory.byAddress('10.201.1.10'))!.agentId, second.id);
});

test('two hosts may give their VMs the same address, and each knows its own agent by it', async () => {
  const at = async (host: string) => {
    const agent = await agents.create(newAgent(accountId), admitAll);
    await agents.lease(agent.id, host, 60_000);
    assert.equal(await agents.observe(agent.id, agent.generation, host, { host, vmAddress: '10.201.2.2' }), true);
    return agent.id;
  };
  const [one, other] = [await at('one'), await at('other')];
  assert.equal((await store.directoryOf('one').byAddress('10.201.2.2'))!.agentId, one);
  assert.equal((await store.directoryOf('other').byAddress('10.201.2.2'))!.agentId, other);
  assert.equal(await store.directoryOf('third').byAddress('10.201.2.2'), null);
  await assert.rejects(at('one'), { code: '23505' }, 'but no host gives it twice');
});

test('the look-up by address goes over its index, however many agents there are', async (t) => {
  const large = await testDatabase();
  t.after(() => large.drop());
  await execute(
    large.connectionString,
    `insert into accounts (id, name) values ('a', 'a');
     insert into agents (id, account_id, name, runtime_kind, model, size, idle_timeout_seconds, stop_after_seconds, keep_awake,
       auto_resume, auto_start, wake_on_message, metadata, created_at, updated_at, vm_address)
     select 'a' || lpad(n::text, 11, '0'), 'a', 'n', 'runtime_a', 'm', 'small', 1, 1, 'auto', true, true, true, '{}', now(), now(),
       '10.' || n from generate_series(1, 5000) n;
     analyze agents`,
  );
  const plan = await execute<{ 'QUERY PLAN': string }>(
    large.connectionString,
    `explain select id from agents where vm_address = '10.77' and deleted_at is null`,
  );
  assert.match(plan.map((line) => line['QUERY PLAN']).join('\n'), /Index Scan using agents_vm_address/);
});
