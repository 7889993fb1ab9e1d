/**
 * kill -9 of who delivers, with receivers that fail. The guarantee: every event arrives at least once, in the order of its agent, or
 * is listed with what went wrong; a signature is good; no receiver holds another up.
 */
import assert from 'node:assert/strict';
import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSecretBox } from '@lodge/access';
import { webhookSecretContext } from '@lodge/ports';
import { formOf } from '@lodge/testkit/forms';
import { execute, testDatabase } from '@lodge/testkit/postgres';
import { WebhookReceiver, taken } from '@lodge/testkit/webhook-receiver';
import { webhooksOver } from '@lodge/testkit/webhooks';
import { admitAll, newAgent } from '../../packages/store/src/testing/fixture.ts';
import { masterKey } from './storm/deliveries.ts';
import { describeStorm } from './storm/storm.ts';
import { Workers } from './storm/workers.ts';
import { appendAgentEvent } from '@lodge/store/events';
import { openTestStore } from '../../packages/store/src/testing/agents-fixture.ts';
import type { TestStore } from '../../packages/store/src/testing/agents-fixture.ts';

const { events, kills } = formOf({ short: { events: 400, kills: 4 }, long: { events: 10_000, kills: 20 } });
const agentCount = 20;
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const by = { actor: { kind: 'operator', id: null }, address: null, requestId: null } as const;
const kinds = ['good', 'flaky', 'slow', 'breaking', 'redirecting', 'leaving'] as const;
/** Receivers that take every event in the end. */
const taking = ['good', 'flaky', 'slow', 'breaking'] as const;
type Kind = (typeof kinds)[number];

let database: Awaited<ReturnType<typeof testDatabase>>;
let store: TestStore;
let workers: Workers;
const receivers = new Map<Kind, WebhookReceiver>();
const ids = new Map<Kind, string>();
const agentIds: string[] = [];

describeStorm({
  name: `${events} events, six receivers, ${kills} kills`,
  kills,
  pauseMs: formOf({ short: [300, 1_500], long: [300, 4_000] }),
  withinMs: formOf({ short: 3, long: 15 }) * 60_000,
  async open() {
    await makeReceivers();
    workers = new Workers({ of: 'webhooks', connectionString: database.connectionString });
    await workers.start();
    return { bring: write, kill: () => workers.replace(), open: whatIsOpen, count, close };
  },
});

async function makeReceivers(): Promise<void> {
  database = await testDatabase();
  store = await openTestStore({ ...database, log: silent });
  const accountId = randomUUID();
  await execute(database.connectionString, `insert into accounts (id, name) values ('${accountId}', 'a')`);
  for (let n = 0; n < agentCount; n += 1) agentIds.push((await store.agents.create(newAgent(accountId), admitAll)).id);
  const secrets = createSecretBox(masterKey);
  const { webhooks } = webhooksOver(store, { secrets, log: silent });
  for (const kind of kinds) {
    const receiver = await WebhookReceiver.start();
    const input = { url: receiver.url, patterns: ['agent.paused'], description: kind, enabled: true };
    const { row, secret } = await webhooks.create(accountId, input, { by });
    assert.equal(
      secrets.open(secrets.seal(secret, webhookSecretContext(row.id)), webhookSecretContext(row.id)),
      secret,
    );
    receiver.secrets = [secret];
    receiver.answer = answers[kind];
    receivers.set(kind, receiver);
    ids.set(kind, row.id);
  }
}

async function close(): Promise<void> {
  workers.close();
  for (const receiver of receivers.values()) await receiver.close();
  await store.close();
  await database.drop();
}

const answers: Readonly<Record<Kind, WebhookReceiver['answer']>> = {
  good: taken,
  flaky: (received, req, res) => (randomInt(4) === 0 ? void res.writeHead(500).end() : taken(received, req, res)),
  // Some are not answered in time.
  slow: (received, req, res) => void (randomInt(200) > 0 && taken(received, req, res)),
  breaking: (received, req, res) => (randomInt(5) === 0 ? void req.socket.destroy() : taken(received, req, res)),
  redirecting: (_received, _req, res) => void res.writeHead(307, { location: receivers.get('good')!.url }).end(),
  leaving: (_received, _req, res) => void res.writeHead(410).end(),
};

async function write(): Promise<void> {
  for (let n = 0; n < events; n += 1) {
    await store.database.transaction((trx) =>
      appendAgentEvent(trx, agentIds[n % agentCount]!, {
        type: 'agent.paused',
        data: { cause: 'idle', duration_ms: Math.floor(n / agentCount) },
      }),
    );
    if (n % 50 === 0) await sleep(5);
  }
}

const countOf = async (kind: Kind, state: string): Promise<number> => {
  const [row] = await execute<{ n: number }>(
    database.connectionString,
    `select count(*)::int as n from webhook_deliveries where webhook_id = '${ids.get(kind)}' and state = '${state}'`,
  );
  return row!.n;
};

async function whatIsOpen(): Promise<string | null> {
  const left = await Promise.all(taking.map(async (kind) => events - (await countOf(kind, 'delivered'))));
  return left.every((each) => each === 0) ? null : `not delivered: ${left.join()}`;
}

async function count(): Promise<readonly string[]> {
  const figures: string[] = [];
  for (const kind of taking) {
    const { received, refused } = receivers.get(kind)!;
    assert.deepEqual(refused, [], `${kind}: every signature is good`);
    for (const agentId of agentIds) {
      const first = new Map<string, number>();
      for (const { id, event } of received) {
        if (event.agent_id === agentId && !first.has(id)) first.set(id, event.data['duration_ms'] as number);
      }
      const expected = Array.from({ length: events / agentCount }, (_, n) => n);
      assert.deepEqual([...first.values()], expected, `${kind}: in the order of the agent, and all of them`);
    }
    figures.push(`${kind}: ${received.length} requests for ${events} events`);
  }
  assert.equal((await countOf('redirecting', 'pending')) > 0, true, 'what a redirect swallowed is listed');
  const [gone] = await execute<{ enabled: boolean; disabled_reason: string }>(
    database.connectionString,
    `select enabled, disabled_reason from webhooks where id = '${ids.get('leaving')}'`,
  );
  assert.deepEqual([gone!.enabled, /410/.test(gone!.disabled_reason)], [false, true]);
  assert.ok((await countOf('leaving', 'failed')) > 0);
  return figures;
}
