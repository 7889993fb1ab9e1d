import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSecretBox } from '@lodge/access';
import { providerAt, startTestBroker } from './testing/harness.ts';

const a = '127.0.0.2';
const stranger = '127.0.0.9';
const path = '/openai/v1/chat/completions';
const chat = { model: 'default', messages: [{ role: 'user', content: 'ping' }] };

test('an agent is held for as long as each call of it lasts, and let go once, however it ends', async () => {
  const held: string[] = [];
  const letGo: string[] = [];
  const seen: string[] = [];
  /** Notes what is held while it is asked; never answers the second time. */
  const provider = createServer((_req, res) => {
    seen.push(`${held.length - letGo.length}`);
    if (seen.length === 1) res.writeHead(200, { 'content-type': 'application/json' }).end('{"choices":[]}');
  });
  provider.listen(0, '127.0.0.1');
  await once(provider, 'listening');
  const broker = await startTestBroker({
    secrets: createSecretBox(randomBytes(32)),
    providers: [
      providerAt('acme', `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`, { needsKey: false }),
    ],
    agents: [{ address: a, model: 'acme/m', keys: {} }],
    keepAwake(agentId) {
      held.push(agentId);
      return () => void letGo.push(agentId);
    },
  });
  try {
    await broker.post(stranger, path, chat);
    await broker.fetchFrom(a)(`${broker.url}/openai/v1/models`);
    assert.deepEqual(held, [], 'nobody is held for what is no call of an agent');

    await broker.post(a, path, chat);
    await broker.post(a, path, 'nonsense');
    const client = new AbortController();
    const given = broker.post(a, path, chat, { signal: client.signal });
    while (seen.length < 2) await sleep(5);
    client.abort();
    await assert.rejects(given);
    await broker.rowCount(3);
    await sleep(50);
    const agent = broker.agentId(a);
    assert.deepEqual(
      [held, letGo],
      [
        [agent, agent, agent],
        [agent, agent, agent],
      ],
    );
    assert.deepEqual(seen, ['1', '1']);
  } finally {
    await broker.close();
    provider.closeAllConnections();
    provider.close();
  }
});
