/** Ports and visits of agents are bounded, each link has one taker, and all end with agent, key and password. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { NewAgentLink } from '@lodge/ports';
import { execute } from '@lodge/testkit/postgres';
import { admitAll, firstAccount, makeKey, newAgent } from '../testing/fixture.ts';
import { testStore } from '../testing/test-store.ts';
import { endSession, openSession } from '../accounts/sessions.ts';
import { revokeKeys } from '../accounts/keys.ts';
import { endVisits, pruneVisits } from './agent-visits.ts';

const { database, store } = await testStore();
const accountId = await firstAccount(store.database);

const agent = async (): Promise<string> => (await store.agents.create(newAgent(accountId), admitAll)).id;
const run = (text: string) => execute(database.connectionString, text);

/** Makes a link and returns it with its secrets. */
async function link(given: Partial<NewAgentLink> = {}) {
  const agentId = given.agentId ?? (await agent());
  const by = given.by ?? { kind: 'api_key', id: (await makeKey(store.database, accountId)).id };
  const hash = randomBytes(32);
  const wanted = { accountId, by, agentId, port: null, path: '/x', linkSeconds: 60, visitSeconds: 60, ...given };
  const expiresAt = await store.agentVisits.createLink(wanted, hash);
  return { agentId, by, hash, expiresAt, page: { agentId, port: wanted.port } };
}

async function visit(given: Partial<NewAgentLink> = {}) {
  const made = await link(given);
  const hash = randomBytes(32);
  const opened = await store.agentVisits.openLink(made.page, made.hash, hash);
  assert.equal(opened?.path, '/x');
  const goesOn = async (): Promise<boolean> => (await store.agentVisits.visit(made.page, hash)) !== null;
  assert.ok(await goesOn());
  return { ...made, hash, goesOn };
}

test('of many who open a link at once one gets the visit', async () => {
  const { page, hash } = await link();
  const opened = await Promise.all(
    Array.from({ length: 10 }, () => store.agentVisits.openLink(page, hash, randomBytes(32))),
  );
  assert.equal(opened.filter((one) => one !== null).length, 1);
});

test('link and visit are of one page of one agent, and neither does for the other', async () => {
  const { agentId, hash, page } = await link({ port: 3000 });
  assert.equal(await store.agentVisits.visit(page, hash), null, 'a link is no visit');
  for (const other of [
    { agentId, port: null },
    { agentId, port: 3001 },
    { agentId: await agent(), port: 3000 },
  ]) {
    assert.equal(await store.agentVisits.openLink(other, hash, randomBytes(32)), null);
  }
  const mine = randomBytes(32);
  assert.ok(await store.agentVisits.openLink(page, hash, mine));
  assert.equal((await store.agentVisits.visit(page, mine))?.accountId, accountId);
  assert.equal(await store.agentVisits.visit({ agentId, port: null }, mine), null);
  assert.equal(await store.agentVisits.openLink(page, mine, randomBytes(32)), null, 'a visit is no link');
});

test('no link to an agent of another account', async () => {
  const [other] = await run("insert into accounts (name) values ('other') returning id");
  const { expiresAt } = await link({ accountId: (other as { id: string }).id });
  assert.equal(expiresAt, null);
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
  assert.equal(await store.agentVisits.openLink(unopened.page, unopened.hash, randomBytes(32)), null);

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
  const port = { accountId, agentId, port: 3000, public: false };
  const first = await store.agentPorts.publish(port, 2);
  assert.ok(typeof first === 'object' && first.isNew && !first.row.public);
  const again = await store.agentPorts.publish({ ...port, public: true }, 2);
  assert.ok(typeof again === 'object' && !again.isNew && again.row.public);
  await store.agentPorts.publish({ ...port, port: 80 }, 2);
  assert.equal(await store.agentPorts.publish({ ...port, port: 81 }, 2), 'full');
  assert.equal(await store.agentPorts.publish({ ...port, accountId: 'other' }, 2), 'no_agent');
  assert.deepEqual(
    (await store.agentPorts.ofAgent(accountId, agentId)).map((row) => row.port),
    [80, 3000],
  );
  assert.deepEqual(await store.agentPorts.ofAgent('other', agentId), []);
  assert.equal((await store.agentPorts.find(agentId, 3000))?.accountId, accountId);

  const visitor = await visit({ agentId, port: 3000 });
  assert.equal(await store.agentPorts.unpublish({ ...port, accountId: 'other' }), false);
  assert.equal(await store.agentPorts.unpublish(port), true);
  assert.equal(await store.agentPorts.unpublish(port), false);
  assert.equal(await visitor.goesOn(), false);

  await store.agents.markDeleted(accountId, agentId);
  assert.equal(await store.agentPorts.find(agentId, 80), null, 'not while it is deleted');
  await store.agents.lease(agentId, 'host', 10_000);
  await store.agents.finishDelete(agentId, 'host');
  assert.deepEqual(await run(`select 1 from agent_ports where agent_id = '${agentId}'`), []);
});
