/** Ports and visits of agents are bounded, each link has one taker, and all end with agent, key and password. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { cryptography } from '@lodge/access';
import { Refusal } from '@lodge/domain';
import { endSession, openSession, revokeKeys } from '@lodge/store/accounts';
import { endVisits, pruneVisits } from '@lodge/store/agents';
import type { NewAgentLink } from '@lodge/store/agents';
import { execute } from '@lodge/testkit/postgres';
import { mismatches, watchFacts } from '../../../store/src/testing/facts.ts';
import { admitAll, firstAccount, makeKey, newAgent } from '../../../store/src/testing/fixture.ts';
import { testStore } from '../../../store/src/testing/test-store.ts';
import { createAgentVisits } from './agent-visits.ts';
import { createPublishedPorts } from './published-ports.ts';

const { database, store } = await testStore();
const accountId = await firstAccount(store.database);
const visits = createAgentVisits(store.database, cryptography.tokens);
const ports = createPublishedPorts(store.database);

const agent = async (): Promise<string> => (await store.agents.create(newAgent(accountId), admitAll)).id;
const run = (text: string) => execute(database.connectionString, text);
const refusedWith = (code: string) => (error: unknown) => error instanceof Refusal && error.code === code;

async function link(given: Partial<NewAgentLink> = {}) {
  const agentId = given.agentId ?? (await agent());
  const by = given.by ?? { kind: 'api_key', id: (await makeKey(store.database, accountId)).id };
  const to = { accountId, by, agentId, port: null, path: '/x', linkSeconds: 60, visitSeconds: 60, ...given };
  const { token } = await visits.createLink({ ...to, page: 'gateway' });
  return { agentId, by, token, page: { agentId, port: to.port } };
}

async function visit(given: Partial<NewAgentLink> = {}) {
  const made = await link(given);
  const opened = await visits.openLink(made.page, made.token);
  assert.equal(opened?.visit.path, '/x');
  const goesOn = async (): Promise<boolean> => (await visits.visit(made.page, opened.token)) !== null;
  assert.ok(await goesOn());
  return { ...made, goesOn };
}

test('each change has one event, and a call that changes nothing has none', async () => {
  const by = { kind: 'api_key', id: (await makeKey(store.database, accountId)).id } as const;
  await watchFacts(database.connectionString);
  const { agentId } = await visit({ by });
  const place = { accountId, agentId, port: 3000 };
  for (const isPublic of [false, false, true]) await ports.publish(place, isPublic);
  await link({ agentId, by, port: 3000 });
  await ports.unpublish(place);
  await assert.rejects(ports.unpublish(place), refusedWith('port_not_found'));
  assert.deepEqual(await mismatches(database.connectionString), []);
});

test('of many who open a link at once one gets the visit', async () => {
  const { page, token } = await link();
  const opened = await Promise.all(Array.from({ length: 10 }, () => visits.openLink(page, token)));
  assert.equal(opened.filter((one) => one !== null).length, 1);
});

test('link and visit are of one page of one agent, and neither does for the other', async () => {
  const { agentId, token, page } = await link({ port: 3000 });
  assert.equal(await visits.visit(page, token), null, 'a link is no visit');
  for (const other of [
    { agentId, port: null },
    { agentId, port: 3001 },
    { agentId: await agent(), port: 3000 },
  ]) {
    assert.equal(await visits.openLink(other, token), null);
  }
  const mine = (await visits.openLink(page, token))!.token;
  assert.equal((await visits.visit(page, mine))?.accountId, accountId);
  assert.equal(await visits.visit({ agentId, port: null }, mine), null);
  assert.equal(await visits.openLink(page, mine), null, 'a visit is no link');
});

test('no link to an agent of another account', async () => {
  const [other] = await run("insert into accounts (name) values ('other') returning id");
  await assert.rejects(link({ accountId: (other as { id: string }).id }), refusedWith('agent_not_found'));
});

test('of an agent the newest 500 links are kept', async () => {
  const { agentId, page, token, by } = await link();
  await run(`
    insert into agent_visits (account_id, key_id, agent_id, path, visit_seconds, hash, expires_at, created_at)
    select '${accountId}', '${by.id}', '${agentId}', '/', 60, sha256(n::text::bytea), now() + interval '1 hour',
      now() + interval '1 minute' from generate_series(1, 499) n
  `);
  await link({ agentId, by });
  assert.deepEqual(await run(`select count(*)::int as n from agent_visits where agent_id = '${agentId}'`), [
    { n: 500 },
  ]);
  assert.equal(await visits.openLink(page, token), null, 'the oldest is gone');
});

test('both end with their time, their key or session, the password and the agent', async () => {
  const late = await visit();
  await run(`update agent_visits set expires_at = now() where agent_id = '${late.agentId}'`);
  assert.equal(await late.goesOn(), false);
  await store.database.repeatable((db) => pruneVisits(db, 100));
  assert.deepEqual(await run(`select 1 from agent_visits where agent_id = '${late.agentId}'`), []);

  const ofKey = await visit();
  const unopened = await link({ by: ofKey.by });
  await store.database.transaction((trx) => revokeKeys(trx, accountId, ofKey.by.id));
  assert.equal(await ofKey.goesOn(), false);
  assert.equal(await visits.openLink(unopened.page, unopened.token), null);

  const session = await store.database.transaction((trx) =>
    openSession(trx, { accountId, hash: randomBytes(32), address: '10.0.0.1', userAgent: null }, 50),
  );
  const ofSession = await visit({ by: { kind: 'session', id: session.id } });
  const unused = await visit({ by: ofSession.by });
  await run(`update sessions set last_seen_at = now() - interval '8 days' where id = '${session.id}'`);
  assert.equal(await unused.goesOn(), false, 'a session that nobody used for too long');
  await run(`update sessions set last_seen_at = now() where id = '${session.id}'`);
  assert.equal(await ofSession.goesOn(), true);
  await store.database.transaction((trx) => endSession(trx, accountId, session.id));
  assert.equal(await ofSession.goesOn(), false);

  const ofAgent = await visit();
  await store.agents.markDeleted(accountId, ofAgent.agentId);
  assert.equal(await ofAgent.goesOn(), false);

  const ofPassword = await visit();
  await store.database.transaction((trx) => endVisits(trx, accountId));
  assert.equal(await ofPassword.goesOn(), false);
});

test('ports: published, changed, taken back with their visits, bounded in number, gone with the agent', async () => {
  const agentId = await agent();
  const place = { accountId, agentId, port: 3000 };
  const first = await ports.publish(place, false);
  assert.ok(first.isNew && !first.row.public);
  const again = await ports.publish(place, true);
  assert.ok(!again.isNew && again.row.public);
  assert.equal((await ports.publish(place, true)).isNew, false, 'nothing is changed');
  await run(
    `insert into agent_ports (agent_id, port, public) select '${agentId}', n, false from generate_series(80, 97) n`,
  );
  const race = await Promise.allSettled([98, 99].map((port) => ports.publish({ ...place, port }, false)));
  const refused = race.filter((each) => each.status === 'rejected');
  assert.ok(refused.length === 1 && refusedWith('quota_exceeded')(refused[0]!.reason));
  await assert.rejects(ports.publish({ ...place, accountId: 'other' }, true), refusedWith('agent_not_found'));
  const all = (await ports.list(accountId, agentId)).map(({ port }) => port);
  assert.deepEqual([all.length, all[0], all.at(-1)], [20, 80, 3000]);
  assert.deepEqual(await ports.list('other', agentId), []);
  assert.equal((await ports.find(agentId, 3000))?.accountId, accountId);

  const visitor = await visit({ agentId, port: 3000 });
  await assert.rejects(ports.unpublish({ ...place, accountId: 'other' }), refusedWith('port_not_found'));
  await ports.unpublish(place);
  await assert.rejects(ports.unpublish(place), refusedWith('port_not_found'));
  assert.equal(await visitor.goesOn(), false);

  await store.agents.markDeleted(accountId, agentId);
  assert.equal(await ports.find(agentId, 80), null, 'not while it is deleted');
  await store.agents.lease(agentId, 'host', 10_000);
  await store.agents.finishDelete(agentId, 'host');
  assert.deepEqual(await run(`select 1 from agent_ports where agent_id = '${agentId}'`), []);
});
