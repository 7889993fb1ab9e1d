/** Tests the door at which runtimes ask before commands: hostile bodies, and what passes to the owner. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Confirmations } from '@lodge/domain';
import { openApp } from '../../../../packages/testkit/src/plane/http/open-app.ts';
import type { OpenedApp } from '../../../../packages/testkit/src/plane/http/open-app.ts';
import { createConfirmDoor } from './confirm-door.ts';

const confirmations: Confirmations = {
  rules: [
    { on: 'command', match: 'rm *', policy: 'deny' },
    { on: 'command', match: 'git push*', policy: 'ask' },
  ],
  default: 'allow',
  deliver: [],
  deciders: [],
  expires: '24h',
};
let lodge: OpenedApp;
let url: string;
const server = createServer((req, res) => {
  const left = new AbortController();
  res.once('close', () => left.abort());
  const door = createConfirmDoor(lodge.parts.engine.asking);
  void door.handle({ agentId, accountId: lodge.accountId, confirmations }, req, res, left.signal);
});
let agentId: string;

before(async () => {
  lodge = await openApp();
  agentId = await lodge.agent({ confirmations: { rules: confirmations.rules } });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
after(async () => {
  server.closeAllConnections();
  server.close();
  await lodge?.close();
});

async function ask(body: unknown, path = '/confirm', method = 'POST') {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const reply = await fetch(`${url}${path}`, { method, ...(method === 'POST' && { body: text }) });
  return { status: reply.status, ...((await reply.json()) as { readonly verdict: string; readonly message: string }) };
}
const command = (text: string, more: object = {}) => ({
  tool: 'exec',
  text,
  detail: JSON.stringify({ command: text }),
  digest: 'a'.repeat(64),
  ...more,
});

test('a command is allowed, denied, or waits for a decision of its owner', async () => {
  assert.deepEqual(await ask(command('ls')), { status: 200, verdict: 'allowed', message: '' });
  assert.equal((await ask(command('rm -rf x'))).verdict, 'denied');
  const asking = ask(command('git push'));
  let [row]: { readonly id: string; readonly quoted: string }[] = [];
  while (row === undefined) {
    [row] = (await lodge.call('GET', '/v1/confirmations?status=pending')).body.data;
    await sleep(20);
  }
  assert.equal(row.quoted, 'git push');
  const decision = await lodge.call('POST', `/v1/confirmations/${row.id}`, { body: { decision: 'allow' } });
  assert.equal(decision.status, 200);
  assert.deepEqual(await asking, { status: 200, verdict: 'allowed', message: '' });
});

test('what is no command is refused with a sentence, and asks nobody', async () => {
  const wrong: readonly unknown[] = [
    '',
    'no json',
    '[]',
    'null',
    '{"a":'.repeat(50),
    command('git push', { tool: 1 }),
    command('git push', { tool: 'x'.repeat(65) }),
    command('git push', { detail: 'x'.repeat(4_001) }),
    command('git push', { digest: 'A'.repeat(64) }),
    command('git push', { text: null }),
    command(`git push ${'x'.repeat(16_384)}`),
    'x'.repeat(200_000),
  ];
  for (const body of wrong) {
    const { status, verdict, message } = await ask(body);
    assert.deepEqual([status, verdict], [400, 'denied'], JSON.stringify(body).slice(0, 100));
    assert.match(message, /^The |^A command/);
  }
  assert.equal((await ask(command('ls'), '/confirm/x')).status, 400);
  assert.equal((await ask(command('ls'), '/confirm', 'GET')).status, 400);
  assert.deepEqual((await lodge.call('GET', '/v1/confirmations?status=pending')).body.data, []);
});
