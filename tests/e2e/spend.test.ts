/**
 * Spend limits and loops from end to end: the API, a real database, engine, broker and a stub provider. The machines are
 * fake, and the gateway in them is a loop that asks its model through the broker, again and again when it is refused: what a
 * runtime does. Every answer costs a dime.
 */
import assert from 'node:assert/strict';
import { dialTo } from '@lodge/guest';
import type { SpendLimit } from '@lodge/domain';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createCallLedger } from '@lodge/engine';
import { createBroker, createPriceBook, parseOperatorProviders } from '@lodge/broker';
import type { Broker } from '@lodge/broker';
import { startStubLlm } from '@lodge/testkit/llm';
import type { StubLlm } from '@lodge/testkit/llm';
import { Agent, fetch } from 'undici';
import { openWorld } from './api/world.ts';
import type { Answer, World } from './api/world.ts';
import { Client } from './contract/states.ts';
import { updateAccount } from '@lodge/store/accounts';
import { appendEvent } from '@lodge/store/events';

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const dime = { input: 0, output: 100_000 };
const loopBounds = { calls: 30, same: 5 };

let world: World;
let llm: StubLlm;
let broker: Broker;
let brokerPort: number;
let client: Client;
/** Agents by the address their calls come from. */
const agents = new Map<string, string>();

const gateway = createServer((request, response) => void answer(request, response));

before(async () => {
  gateway.listen(0, '127.0.0.1');
  await once(gateway, 'listening');
  const baseUrl = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}/v1`;
  world = await openWorld({
    settings: { LODGE_TURN_CALLS: String(loopBounds.calls), LODGE_SAME_CALLS: String(loopBounds.same) },
    runtime: {
      chatEndpoint: () => ({ dial: dialTo('127.0.0.1'), baseUrl, headers: {}, model: 'm', takesPictures: false }),
    },
  });
  client = new Client(world);
  llm = await startStubLlm();
  llm.rule((request) => {
    if (!request.lastUserText.startsWith('greedy')) return { text: 'plum', usage: dime, delayMs: 50 };
    const usage = { input: 0, output: tokensOf(request.body) };
    return request.lastUserText === 'greedy and gone' ? { hang: 'at-once' } : { text: 'plum', usage, delayMs: 20 };
  });
  const acme = {
    id: 'acme',
    base_url: llm.openaiBaseUrl,
    private_addresses: true,
    needs_key: false,
    models: [
      { name: 'm', prices: { input: '0', output: '1' } },
      { name: 'dear', prices: { input: '0', output: '10' } },
    ],
  };
  const providers = parseOperatorProviders(JSON.stringify([acme]));
  broker = createBroker({
    directory: {
      byAddress: async (address) => {
        const agentId = agents.get(address);
        const { accountId } = world;
        return agentId === undefined
          ? null
          : {
              agentId,
              accountId,
              runtimeKind: 'runtime_a',
              model: 'acme/m',
              sealedKeys: {},
              keepsContents: false,
              models: null,
              spendLimited: true,
              confirmations: null,
            };
      },
    },
    secrets: { seal: (text) => text, open: (text) => text, fingerprint: () => '' },
    ledger: world.engine.watchCalls(createCallLedger(world.store.database, 'here')),
    providers,
    prices: createPriceBook(providers, new Map()),
    log: silent,
    limits: { callsPerAgent: 100, callsPerAgentPerMinute: 10_000, connectionsPerAddress: 100 },
    keepAwake: (id) => world.engine.agents.busy(id),
  });
  ({ port: brokerPort } = await broker.listen({ host: '127.0.0.1', port: 0 }));
});
after(async () => {
  await broker?.close();
  await llm?.close();
  await world?.close();
  gateway.closeAllConnections();
  gateway.close();
});

/** A model call as the runtime at that address makes it. */
const ask = (localAddress: string, text: string): Promise<Response> =>
  fetch(`http://127.0.0.1:${brokerPort}/openai/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'default', max_tokens: 100_000, messages: [{ role: 'user', content: text }] }),
    dispatcher: new Agent({ localAddress, pipelining: 0 }),
  });

/** Tokens that a provider may bill for what such a request asks, and what they cost in micro-dollars. */
const tokensOf = ({ max_tokens, max_completion_tokens, n }: Record<string, any>): number =>
  Math.max(max_tokens ?? 0, max_completion_tokens ?? 0, max_tokens || max_completion_tokens ? 0 : 4096) * (n ?? 1);
const billedMicroUsd = (body: Record<string, any>): number => tokensOf(body) * (body['model'] === 'dear' ? 10 : 1);

/** Makes the calls that the message says, refused ones until it is cut, then answers `plum`. */
async function answer(request: AsyncIterable<Buffer>, response: ServerResponse): Promise<void> {
  const parts = await Array.fromAsync(request);
  const { messages, stream } = JSON.parse(Buffer.concat(parts).toString()) as {
    messages: { content: string }[];
    stream?: boolean;
  };
  const [what, times, address] = messages.at(-1)!.content.split(' ');
  for (let done = 0; done < Number(times) && !response.destroyed;) {
    const reply = await ask(address!, what === 'same' ? 'again' : `${what} ${Math.random()}`);
    if (reply.ok) done += 1;
    else await sleep(100);
    await reply.arrayBuffer();
  }
  if (response.destroyed) return;
  const choice = { index: 0, finish_reason: 'stop' };
  if (stream === true) {
    response.setHeader('content-type', 'text/event-stream');
    const chunk = { object: 'chat.completion.chunk', model: 'm', choices: [{ ...choice, delta: { content: 'plum' } }] };
    response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
    return;
  }
  response.setHeader('content-type', 'application/json');
  const message = { role: 'assistant', content: 'plum' };
  response.end(JSON.stringify({ object: 'chat.completion', model: 'm', choices: [{ ...choice, message }] }));
}

const agent = async (spend_limit: object | null): Promise<string> => {
  const id = await client.agent('running', { spend_limit });
  agents.set(`127.0.1.${agents.size + 1}`, id);
  return id;
};
const addressOf = (id: string): string => [...agents].find(([, agentId]) => agentId === id)![0];
const chat = (id: string, what: string, rest: object = {}, query = ''): Promise<Answer> => {
  const messages = [{ role: 'user', content: `${what} ${addressOf(id)}` }];
  return client.call('POST', `/agents/${id}/chat/completions${query}`, { messages, ...rest });
};
const limitTo = async (id: string, spend_limit: object | null): Promise<Answer> =>
  client.call('PATCH', `/agents/${id}`, { spend_limit });
const logOf = async (id: string): Promise<string> =>
  (await client.call('GET', `/agents/${id}/logs?level=warn`)).body.data
    .map(({ message }: { message: string }) => message)
    .join('\n');
/** A hold that is prolonged as it is released outlives it by 15 s. */
const asleep = async (id: string): Promise<void> => {
  const until = Date.now() + 240_000;
  while ((await client.status(id)) !== 'paused') {
    assert.ok(Date.now() < until, 'put to sleep');
    await sleep(100);
  }
};

function assertRefused(answer: Answer, period: 'day' | 'month' = 'day'): void {
  assert.deepEqual(
    [answer.status, answer.body.error?.type, answer.body.error?.code],
    [429, 'rate_limit_error', 'spend_limit_exceeded'],
    answer.text,
  );
  const now = new Date();
  const end = Date.UTC(
    now.getUTCFullYear(),
    now.getUTCMonth() + (period === 'month' ? 1 : 0),
    period === 'month' ? 1 : now.getUTCDate() + 1,
  );
  const seconds = Number(answer.headers.get('retry-after'));
  assert.ok(Math.abs(seconds - (end - now.getTime()) / 1000) < 20, `${seconds} s until the ${period} ends`);
  assert.equal(answer.headers.get('x-should-retry'), 'false');
}

describe('limits of agents', { concurrency: true }, () => {
  test('50 calls at once through the broker against a limit of ten: ten go out, the rest are told as a provider would', async () => {
    const id = await agent({ daily_usd: '1', action: 'block' });
    const replies = await Promise.all(Array.from({ length: 50 }, (_, n) => ask(addressOf(id), `call ${n}`)));
    assert.equal(replies.filter(({ ok }) => ok).length, 10);
    const refused = replies.find(({ ok }) => !ok)!;
    assert.deepEqual([refused.status, refused.headers.has('retry-after')], [429, true]);
    const { error } = (await refused.json()) as { error: { type: string; code: string } };
    assert.deepEqual([error.type, error.code], ['rate_limit_error', 'spend_limit_exceeded']);
    const { rows } = await world.sql.query<{ usd: string }>(
      "select trim_scale(spent_usd)::text as usd from spend_windows where id = $1 and period = 'day'",
      [id],
    );
    assert.deepEqual(rows, [{ usd: '1' }]);
  });

  test('a guest that chooses models, tiers and counts, spells fields otherwise and hangs up overshoots by one call at most', async () => {
    const limitUsd = 2;
    const id = await agent({ daily_usd: String(limitUsd), action: 'block' });
    const message = `"messages":[{"role":"user","content":"greedy ${id}"}]`;
    const bodies = [
      `{"model":"acme/m","max_tokens":90000,${message}}`,
      `{"model":"acme/dear","max_completion_tokens":11000,${message}}`,
      `{"model":"acme/dear","max_tokens":1,"max_completion_tokens":9000,${message}}`,
      `{"model":"default","n":3,"max_tokens":40000,${message}}`,
      `{"model":"acme/m",${message}}`,
      `{"model":"acme/dear","n":7,${message}}`,
      String.raw`{"model":"acme\/de\u0061r","max_token\u0073":12000,${message}}`,
      `{"model":"acme/m","max_tokens":1,"max_tokens":90000,${message}}`,
      `{"model":"acme/m","max_tokens":1,"Max_Tokens":90000,${message}}`,
      `{"model":"acme/m","max_tokens":"1",${message}}`,
      `{"model":"acme/m","service_tier":"priority","max_tokens":9,${message}}`,
      `{"model":"acme/nobody-knows","max_tokens":9,${message}}`,
      `{"model":"acme/m","max_tokens":70000,"stream":true,"messages":[{"role":"user","content":"greedy and gone"}]}`,
    ];
    const seenBefore = llm.requests.length;
    const dispatcher = new Agent({ localAddress: addressOf(id), pipelining: 0 });
    const statuses = new Map<string, Set<number>>();
    const greed = async (body: string): Promise<void> => {
      const signal = AbortSignal.timeout(body.includes('and gone') ? 400 : 60_000);
      const [method, headers] = ['POST', { 'content-type': 'application/json' }];
      const path = `http://127.0.0.1:${brokerPort}/openai/v1/chat/completions`;
      const reply = await fetch(path, { method, headers, body, signal, dispatcher }).catch(() => null);
      await reply?.arrayBuffer().catch(() => undefined);
      statuses.set(body, (statuses.get(body) ?? new Set()).add(reply?.status ?? 0));
    };
    for (let round = 0; round < 8; round += 1) {
      await Promise.all(bodies.map((_, index) => greed(bodies[(index * 5 + round) % bodies.length]!)));
    }
    const served = llm.requests
      .slice(seenBefore)
      .filter(({ lastUserText }) => lastUserText === `greedy ${id}` || lastUserText === 'greedy and gone');
    const billed = served.map(({ body }) => billedMicroUsd(body) / 1e6);
    const sum = billed.reduce((all, one) => all + one, 0);
    const largest = Math.max(...bodies.slice(0, 7).map((text) => billedMicroUsd(JSON.parse(text)) / 1e6), 0.29);
    assert.ok(sum > limitUsd / 2 && sum <= limitUsd + largest, `$${sum} of $${limitUsd}`);
    const { rows } = await world.sql.query<{ usd: string }>(
      "select spent_usd::text as usd from spend_windows where id = $1 and period = 'day'",
      [id],
    );
    assert.ok(Number(rows[0]!.usd) >= sum - 1e-6, `booked $${rows[0]!.usd} of $${sum}`);
    // Whatever its spelling, what has no price or two meanings goes nowhere, whether there is money left or not.
    for (const body of bodies.slice(7, 12)) assert.ok(!statuses.get(body)!.has(200), body);
    assert.equal((await ask(addressOf(id), 'call')).status, 429);
  });

  test('block: the turn is cut with 429 until the window ends, streamed or not; a raised limit works with the next message', async () => {
    const id = await agent({ daily_usd: '0.2', monthly_usd: '5', action: 'block' });
    assert.equal((await chat(id, 'call 1')).status, 200);
    const cutAt = performance.now();
    assertRefused(await chat(id, 'call 5'));
    assert.ok(performance.now() - cutAt < 60_000, 'long before the runtime gives up');
    const streamed = await chat(id, 'call 1', { stream: true });
    assertRefused(streamed);
    assert.equal(await client.status(id), 'running');
    assert.match(await logOf(id), /\$0\.2 a day is reached/);
    const raised = await limitTo(id, { daily_usd: '5', monthly_usd: '0.4', action: 'block' });
    assert.deepEqual(raised.body.spend_limit, { daily_usd: '5', monthly_usd: '0.4', action: 'block' });
    assert.equal((await chat(id, 'call 1')).status, 200);
    assertRefused(await chat(id, 'call 5'), 'month');
    assert.equal((await limitTo(id, null)).body.spend_limit, null);
    assert.equal((await chat(id, 'call 5')).status, 200);
  });

  test('pause: the agent sleeps, no message wakes it, a person may, and a raised limit lets messages wake it again', async () => {
    const id = await agent({ daily_usd: '0.1', action: 'pause' });
    assertRefused(await chat(id, 'call 2'));
    await asleep(id);
    assert.match((await client.call('GET', `/agents/${id}/logs`)).text, /Paused because its spend limit is reached/);
    for (const query of ['', '?wake=true']) assertRefused(await chat(id, 'call 0', {}, query));
    assertRefused(await client.call('POST', `/agents/${id}/responses`, { input: 'call 0' }));
    assert.equal(await client.status(id), 'paused');
    assert.equal((await client.call('POST', `/agents/${id}/stop`)).status, 200);
    assertRefused(await chat(id, 'call 0', {}, '?wake=true'));
    assert.equal((await client.call('POST', `/agents/${id}/start`)).body.status, 'running');
    assert.equal((await chat(id, 'call 0')).status, 200);
    assertRefused(await chat(id, 'call 1'));
    await asleep(id);
    await limitTo(id, { daily_usd: '5', action: 'pause' });
    assert.equal((await chat(id, 'call 1')).status, 200);
    assert.equal(await client.status(id), 'running');
  });

  test('a turn that goes in circles is cut with a reason of its own, and the next turn is not', async () => {
    const id = await agent(null);
    for (const message of ['same 100', 'call 100']) {
      const cut = await chat(id, message);
      assert.deepEqual([cut.status, cut.body.error.code], [429, 'loop_detected'], cut.text);
      assert.ok(cut.headers.get('retry-after'));
    }
    assert.match(await logOf(id), /the same model request 5 times in one turn.*loop_detected/);
    assert.match(await logOf(id), /30 model calls in one turn.*loop_detected/);
    assert.equal((await chat(id, 'call 3')).status, 200);
  });
});

const limitAccount = (limit: SpendLimit | null): Promise<void> =>
  world.store.database.transaction(async (trx) => {
    const { accountId } = world;
    await updateAccount(trx, accountId, { spendLimit: limit && JSON.stringify(limit) });
    const data = { daily_usd: null, monthly_usd: limit?.monthlyUsd ?? null, action: limit?.action ?? null };
    await appendEvent(trx, { type: 'account.spend_limit_set', data, accountId, agentId: null, by: null });
  });

test("an account's limit holds for all its agents, and GET /limits tells of it", async () => {
  const spent = (await client.call('GET', '/limits')).body.spend;
  assert.deepEqual([spent.daily.limit_usd, spent.action, spent.agent_default], [null, null, null]);
  assert.ok(Number(spent.daily.spent_usd) > 1, spent.daily.spent_usd);
  const limit = { dailyUsd: null, monthlyUsd: spent.monthly.spent_usd, action: 'block' } as const;
  await limitAccount(limit);
  const id = await agent(null);
  assertRefused(await chat(id, 'call 1'), 'month');
  const { spend } = (await client.call('GET', '/limits')).body;
  assert.deepEqual([spend.monthly.limit_usd, spend.action], [limit.monthlyUsd, 'block']);
  assert.ok(Date.parse(spend.monthly.resets_at) > Date.now());
  await limitAccount(null);
  assert.equal((await chat(id, 'call 1')).status, 200);
});
