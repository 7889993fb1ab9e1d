/**
 * kill -9 of who delivers, with receivers that fail. The guarantee: every event arrives at least once, in the order of its agent, or
 * is listed with what went wrong; a signature is good; no receiver holds another up.
 */
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomInt, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSecretBox } from '@lodge/access';
import { webhookSecretContext } from '@lodge/ports';
import { migrate, openStore } from '@lodge/store';
import type { Store } from '@lodge/store';
import { formOf } from '@lodge/testkit/forms';
import { execute, testDatabase } from '@lodge/testkit/postgres';
import { WebhookReceiver, taken } from '@lodge/testkit/webhook-receiver';
import { webhooksOver } from '@lodge/testkit/webhooks';
import { admitAll, newAgent } from '../../packages/store/src/testing/fixture.ts';
import { masterKey } from './webhooks-storm-settings.ts';

const events = formOf({ short: 1_000, long: 10_000 });
const kills = formOf({ short: 5, long: 20 });
const withinMs = formOf({ short: 3, long: 15 }) * 60_000;
const agentCount = 20;
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const by = { actor: { kind: 'operator', id: null }, address: null, requestId: null } as const;
const kinds = ['good', 'flaky', 'slow', 'breaking', 'redirecting', 'leaving'] as const;
type Kind = (typeof kinds)[number];

let database: Awaited<ReturnType<typeof testDatabase>>;
let store: Store;
let child: ChildProcess;
const receivers = new Map<Kind, WebhookReceiver>();
const ids = new Map<Kind, string>();
const agentIds: string[] = [];

before(async () => {
  database = await testDatabase();
  await migrate(database);
  store = await openStore({ ...database, log: silent });
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
  child = await deliverer();
});
after(async () => {
  child?.kill('SIGKILL');
  for (const receiver of receivers.values()) await receiver.close();
  await store?.close();
  await database?.drop();
});

const answers: Readonly<Record<Kind, WebhookReceiver['answer']>> = {
  good: taken,
  flaky: (received, req, res) => (randomInt(4) === 0 ? void res.writeHead(500).end() : taken(received, req, res)),
  // Some are not answered in time.
  slow: (received, req, res) => void (randomInt(200) > 0 && taken(received, req, res)),
  breaking: (received, req, res) => (randomInt(5) === 0 ? void req.socket.destroy() : taken(received, req, res)),
  redirecting: (_received, _req, res) => void res.writeHead(307, { location: receivers.get('good')!.url }).end(),
  leaving: (_received, _req, res) => void res.writeHead(410).end(),
};

async function deliverer(): Promise<ChildProcess> {
  const started = fork(new URL('webhooks-deliverer.ts', import.meta.url));
  started.send(database.connectionString);
  await once(started, 'message');
  return started;
}

async function write(): Promise<void> {
  for (let n = 0; n < events; n += 1) {
    await store.events.append(agentIds[n % agentCount]!, {
      type: 'agent.paused',
      data: { cause: 'idle', duration_ms: Math.floor(n / agentCount) },
    });
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

test(`${events} events, six receivers, ${kills} kills`, { timeout: withinMs + 60_000 }, async (t) => {
  const writing = write();
  for (let n = 0; n < kills; n += 1) {
    await sleep(randomInt(300, formOf({ short: 1_500, long: 4_000 })));
    child.kill('SIGKILL');
    await once(child, 'exit');
    child = await deliverer();
  }
  await writing;
  const taking = ['good', 'flaky', 'slow', 'breaking'] as const;
  for (const deadline = Date.now() + withinMs; ; await sleep(200)) {
    const left = await Promise.all(taking.map(async (kind) => events - (await countOf(kind, 'delivered'))));
    if (left.every((each) => each === 0)) break;
    assert.ok(Date.now() < deadline, `not delivered: ${left.join()}`);
  }
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
    t.diagnostic(`${kind}: ${received.length} requests for ${events} events`);
  }
  assert.equal((await countOf('redirecting', 'pending')) > 0, true, 'what a redirect swallowed is listed');
  const [gone] = await execute<{ enabled: boolean; disabled_reason: string }>(
    database.connectionString,
    `select enabled, disabled_reason from webhooks where id = '${ids.get('leaving')}'`,
  );
  assert.deepEqual([gone!.enabled, /410/.test(gone!.disabled_reason)], [false, true]);
  assert.ok((await countOf('leaving', 'failed')) > 0);
});
