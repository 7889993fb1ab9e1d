/** Every writing method of the store, in random order. Some calls change something, and some find it done already. */
import { randomBytes, randomUUID } from 'node:crypto';
import { defaultLifecycle, operationCauses, verbs } from '@lodge/domain';
import type { AgentStatus, Happening } from '@lodge/domain';
import type { Random } from '@lodge/domain/testing';
import type { By, ChangeNote } from '@lodge/ports';
import type { AgentRow } from '../agents/agent-row.ts';
import { lockAccount, rememberAddress, updateAccount } from '../accounts/accounts.ts';
import { insertKey, keysOf, revokeKeys } from '../accounts/keys.ts';
import { insertLink } from '../accounts/links.ts';
import { endSessions, openSession } from '../accounts/sessions.ts';
import type { Transaction } from '../database/database.ts';
import { appendAgentEvent, appendEvent } from '../events/append.ts';
import { admitAll, event, finishedCall, newAgent, newKey, openCall } from './fixture.ts';
import type { TestStore } from './agents-fixture.ts';

const by: By = { actor: { kind: 'api_key', id: 'k' }, address: null, requestId: null };
const holder = 'h';

interface Doing {
  readonly store: TestStore;
  readonly accountId: string;
  readonly random: Random;
  readonly pick: <T>(of: readonly T[]) => T;
  /** Returns an agent of the account, and creates one when there is none. */
  readonly agent: () => Promise<AgentRow>;
}

type Write = (doing: Doing) => Promise<unknown>;

const noteOf = (random: Random, said: Happening): ChangeNote | undefined =>
  random(2) === 0 ? undefined : { event: said, by };

const create: Write = ({ store, accountId, random }) => {
  const limits = { dailyUsd: '0.01', monthlyUsd: '0.02', action: 'block' } as const;
  const given = newAgent(accountId, { spendLimit: random(2) === 0 ? limits : null });
  return store.agents.create(given, admitAll, noteOf(random, { type: 'agent.created', data: { name: 'x' } }));
};

/** Writes facts of the host, and sometimes a transition. An operation that is not in progress does not end. */
const observe: Write = async ({ store, agent, pick }) => {
  const { id } = await agent();
  await store.agents.lease(id, holder, 60_000);
  const row = await store.agents.find(id);
  if (row === null) return;
  const facts = { executionId: randomUUID(), templateId: 't' };
  const status = pick<AgentStatus>(['running', 'paused', 'stopped', 'provisioning']);
  const ends = row.operation !== null && pick([true, false]);
  const transition = { status, event, ...(ends && { operation: null }) };
  const isOne = ends || status !== row.status;
  await store.agents.observe(id, row.generation, holder, isOne ? { ...facts, ...transition } : facts);
};

const inAccount =
  (change: (trx: Transaction, doing: Doing) => Promise<boolean>, said: Happening = event): Write =>
  (doing) =>
    doing.store.database.transaction(async (trx) => {
      const { accountId } = doing;
      if (await change(trx, doing)) await appendEvent(trx, { ...said, accountId, agentId: null, by });
    });

const spend: Write = async ({ store, agent, random }) => {
  const { id: agentId, accountId } = await agent();
  const id = randomUUID();
  const ledger = store.ledgerOf(holder);
  const startedAt = new Date();
  if ((await ledger.open({ ...openCall({ agentId, accountId }, id), startedAt })) !== null) return;
  const call = finishedCall({ agentId, accountId }, id, { startedAt, costUsd: `0.00${1 + random(9)}` });
  await ledger.close(call);
  await store.spend.note(call);
};

const writes: readonly Write[] = [
  create,
  create,
  observe,
  observe,
  observe,
  async ({ store, agent, random, pick }) => {
    const said = { type: 'agent.stop_requested', data: {} } as const;
    const admission = pick([{ do: 'begin', kind: pick(verbs) }, { do: 'nothing' }, { do: 'join' }] as const);
    await store.agents.begin(
      (await agent()).id,
      pick(operationCauses),
      ({ row }) => (row.operation === null ? admission : { do: 'join' }),
      noteOf(random, said),
    );
  },
  async ({ store, accountId, agent, random, pick }) => {
    const change = pick([
      {},
      { name: pick(['a', 'b']) },
      { metadata: { k: pick(['1', '2']) }, description: null },
      { llmKeys: pick([[], [{ provider: 'p', sealed: 's', last4: 'last' }]]) },
      { lifecycle: { ...defaultLifecycle, autoStart: random(2) === 0 } },
      { members: pick([[], [{ name: 'm', model: null, instructions: null, createdAt: new Date(0) }]]) },
    ]);
    const said = { type: 'agent.updated', data: { fields: ['name'] } } as const;
    await store.agents.change(accountId, (await agent()).id, () => change, noteOf(random, said));
  },
  async ({ store, accountId, agent, random }) => {
    if (random(3) > 0) return;
    const { id } = await agent();
    for (let again = 0; again < 2; again += 1) await store.agents.markDeleted(accountId, id);
  },
  async ({ store, agent }) => {
    const { id } = await agent();
    await store.agents.lease(id, holder, 60_000);
    await store.agents.finishDelete(id, holder);
  },
  async ({ store, agent }) => {
    const { id } = await agent();
    await store.agents.takeKeepAwake(id, holder, 1_000);
    await store.agents.prolongKeepAwake([id], holder, 1_000);
    await store.agents.endKeepAwake(id, holder);
    await store.agents.releaseLease(id, holder);
    await store.database.transaction((trx) =>
      appendAgentEvent(trx, id, { type: 'agent.disk_full', data: { free_mib: 1 } }),
    );
  },
  spend,
  inAccount(async (trx, { accountId }) => (await insertKey(trx, { ...newKey(), accountId })) !== null),
  async (doing) => {
    const { store, accountId } = doing;
    const keys = await store.database.repeatable((db) => keysOf(db, accountId));
    const { id } = doing.pick(keys);
    await inAccount(async (trx) => (await revokeKeys(trx, accountId, id)).length > 0)(doing);
  },
  inAccount(async (trx, { accountId, pick }) => {
    const limit = pick([null, { dailyUsd: '5', monthlyUsd: null, action: 'block' }] as const);
    const before = await lockAccount(trx, accountId);
    if (before!.spendLimit?.dailyUsd === limit?.dailyUsd) return false;
    await updateAccount(trx, accountId, { spendLimit: limit && JSON.stringify(limit) });
    return true;
  }),
  inAccount(async (trx, { accountId }) => {
    await openSession(trx, { accountId, hash: randomBytes(32), address: '192.0.2.1' }, 5);
    await rememberAddress(trx, accountId, '192.0.2.1', 20);
    return true;
  }),
  inAccount(async (trx, { accountId }) => (await endSessions(trx, accountId, null)) > 0),
  inAccount(async (trx, { accountId }) => {
    await insertLink(trx, { kind: 'invite', accountId, hash: randomBytes(32), lifetimeSeconds: 60 });
    return true;
  }),
];

/**
 * Makes one write after another until `goesOn` says no. A write that fails because another writer removed its object is no
 * failure.
 */
export async function writeAtRandom(
  store: TestStore,
  accountId: string,
  random: Random,
  goesOn: () => boolean,
): Promise<void> {
  const mine: string[] = [];
  const pick = <T>(of: readonly T[]): T => of[random(of.length)]!;
  const agent = async (): Promise<AgentRow> => {
    const row = mine.length === 0 ? null : await store.agents.get(accountId, pick(mine));
    if (row !== null) return row;
    const made = await store.agents.create(newAgent(accountId), admitAll);
    mine.push(made.id);
    return made;
  };
  while (goesOn()) await pick(writes)({ store, accountId, random, pick, agent });
}
