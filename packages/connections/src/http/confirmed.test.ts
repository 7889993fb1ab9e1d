/** How a call that was allowed ends where there is no access for it: nothing was sent, and its end says so. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, test } from 'node:test';
import { createSecretBox } from '@lodge/access';
import type { Confirmations } from '@lodge/domain';
import { connectionGrantContext } from '@lodge/ports';
import type { CallEnd, ConnectionGrants, ConnectionRow, StoredCall } from '@lodge/ports';
import { openConnections } from '../parts.ts';

const secrets = createSecretBox(randomBytes(32));
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const never = new AbortController().signal;
const agent = { agentId: 'a1', accountId: 'acc' };
const ends: CallEnd[] = [];
let reached = 0;
let status = 200;
let row: ConnectionRow;
let parts: ReturnType<typeof openConnections>;
const servers: Server[] = [];
let door = '';

async function listening(server: Server): Promise<string> {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

before(async () => {
  const service = createServer((_req, res) => {
    reached += 1;
    res.writeHead(status).end('{}');
  });
  const url = `${await listening(service)}/v1`;
  const grant = { accessToken: 'mark-7Qx9-Zt4Lw2Rk8Vb', refreshToken: 'r', terms: {}, url, before: null };
  row = {
    ...agent,
    name: 'bank',
    kind: 'http',
    url,
    allow: [{ methods: ['POST'], paths: ['/*'] }],
    oauth: {
      clientId: 'c',
      clientSecret: null,
      clientIssuer: null,
      endpoints: null,
      scope: null,
      status: 'authorized',
      reason: null,
      version: '1',
      grant: {
        sealed: secrets.seal(JSON.stringify(grant), connectionGrantContext('a1', 'bank')),
        scope: null,
        expiresAt: null,
        isDue: true,
        isOver: true,
        ageMs: 600_000,
      },
    },
    headers: [],
    secrets: [],
    hosts: [],
    tools: null,
    enabled: true,
    revision: '1',
  } as unknown as ConnectionRow;
  parts = openConnections({
    directory: { usable: async () => [row], usableOne: async () => row, echoed: async () => undefined },
    // Its authorization server has refused a moment ago.
    grants: { claim: async () => 'later' } as unknown as ConnectionGrants,
    secrets,
    logs: { append: async () => undefined },
    log: silent,
    addresses: 'any',
    authority: () => Promise.reject(new Error('no host is reached here')),
    egressProxy: null,
    guard: { ask: async () => ({ verdict: 'allowed', ended: async (end) => void ends.push(end) }) },
  });
  const confirmations: Confirmations = {
    rules: [{ on: 'connection:bank', match: '*', policy: 'ask' }],
    default: 'allow',
    deliver: [],
    deciders: [],
    expires: '24h',
  };
  door = await listening(
    createServer((req, res) => void parts.door.handle({ ...agent, confirmations }, req, res, never)),
  );
});
after(async () => {
  for (const server of servers) server.close();
  await parts?.close();
});
beforeEach(() => {
  ends.length = 0;
  reached = 0;
  status = 200;
});

const send = () => fetch(`${door}/connections/bank/refunds`, { method: 'POST', body: '{}' });
const stored = (): StoredCall => ({
  kind: 'http',
  connection: 'bank',
  url: row.url,
  method: 'POST',
  path: '/refunds',
  query: '',
  headers: {},
  body: null,
});

test('access that its authorization server does not renew ends an allowed call as failed, in its turn and later', async () => {
  const answer = await send();
  assert.equal(answer.status, 502);
  assert.match(await answer.text(), /"access_not_renewed"/);
  assert.equal((await parts.make(agent, stored(), never)).outcome, 'failed');
  assert.deepEqual([ends.map(({ outcome }) => outcome), reached], [['failed'], 0]);
  assert.match(ends[0]!.text, /does not renew it for now/);
});

test('a call that was begun is known by its answer alone', async () => {
  const { grant } = row.oauth!;
  row = { ...row, oauth: { ...row.oauth!, version: '2', grant: { ...grant!, isDue: false, isOver: false } } };
  assert.equal((await send()).status, 200);
  status = 503;
  assert.equal((await parts.make(agent, stored(), never)).outcome, 'done');
  servers[0]!.close();
  servers[0]!.closeAllConnections();
  assert.equal((await send()).status, 502);
  assert.deepEqual([ends.map(({ outcome }) => outcome), reached], [['done', 'unknown'], 2]);
});
