/** Usage and cost over HTTP: what a bill-payer asks, on the real store, with agents on fake machines. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createCallLedger } from '@lodge/engine';
import type { LlmCall } from '@lodge/ports';
import { openWorld } from './api/world.ts';
import type { World } from './api/world.ts';
import { Client } from './contract/states.ts';

let world: World;
let client: Client;
let one: string;
let other: string;

/** A moment that every test's range is around. */
const noon = new Date('2026-03-10T12:00:00Z');
const range = 'starting_at=2026-03-10T00:00:00Z&ending_at=2026-03-11T00:00:00Z';
let made = 0;

function call(agentId: string, given: Partial<LlmCall> = {}): Promise<void> {
  made += 1;
  return createCallLedger(world.store.database, 'test').close({
    id: `call-${made}`,
    agentId,
    accountId: world.accountId,
    provider: 'anthropic',
    model: 'claude-sonnet-5',
    api: 'anthropic-messages',
    startedAt: new Date(noon.getTime() + made * 1000),
    durationMs: 900,
    timeToFirstByteMs: 210,
    status: 200,
    outcome: 'ok',
    inputTokens: 100,
    outputTokens: 10,
    cacheReadTokens: 5,
    cacheWriteTokens: 0,
    cacheWriteLongTokens: null,
    reasoningTokens: null,
    imageTokens: null,
    estimated: false,
    costUsd: '0.000450001',
    priceVersion: 'list',
    ...given,
  });
}

before(async () => {
  world = await openWorld();
  client = new Client(world, await world.keyOf(world.accountId, ['usage:read']));
  const owner = new Client(world);
  one = await owner.agent('running');
  other = await owner.agent('stopped');
  for (let n = 0; n < 3; n += 1) await call(one);
  await call(one, { provider: 'openai', model: 'gpt-x', costUsd: null, priceVersion: null, estimated: true });
  await call(other, { model: 'a,"b"', costUsd: '1' });
});
after(() => world?.close());

test('totals and every bucket of a range, exact to the last digit', async () => {
  const { status, body } = await client.call('GET', `/usage?${range}&bucket_width=1h`);
  assert.equal(status, 200);
  assert.deepEqual(
    [body.object, body.starting_at, body.ending_at, body.bucket_width, body.group_by, body.time_zone],
    ['usage', '2026-03-10T00:00:00.000Z', '2026-03-11T00:00:00.000Z', '1h', null, 'UTC'],
  );
  assert.equal(body.data.length, 24);
  assert.deepEqual(body.totals.llm, {
    requests: 5,
    input_tokens: 500,
    output_tokens: 50,
    cache_read_tokens: 25,
    cache_write_tokens: 0,
    unpriced_requests: 1,
    estimated_requests: 1,
  });
  assert.deepEqual(body.totals.cost, { compute: '0', llm: '1.001350003', storage: '0', total: '1.001350003' });
  const used = body.data.filter(({ llm }: { llm: { requests: number } }) => llm.requests > 0);
  assert.deepEqual(
    used.map((bucket: { starting_at: string; group: null }) => [bucket.starting_at, bucket.group]),
    [['2026-03-10T12:00:00.000Z', null]],
  );
  assert.deepEqual(used[0].llm, body.totals.llm);
});

test('by agent, model and provider; an agent has its own', async () => {
  const groups = async (query: string, of = '/usage') =>
    (await client.call('GET', `${of}?${range}&${query}`)).body.data.map(
      ({ group, llm, cost }: { group: string; llm: { requests: number }; cost: { llm: string } }) => [
        group,
        llm.requests,
        cost.llm,
      ],
    );
  assert.deepEqual(
    await groups('group_by=agent'),
    [
      [one, 4, '0.001350003'],
      [other, 1, '1'],
    ].toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
  );
  const models = [
    ['anthropic/a,"b"', 1, '1'],
    ['anthropic/claude-sonnet-5', 3, '0.001350003'],
    ['openai/gpt-x', 1, '0'],
  ];
  assert.deepEqual(await groups('group_by=model'), models);
  assert.deepEqual(await groups('group_by=provider&bucket_width=all'), [
    ['anthropic', 4, '1.001350003'],
    ['openai', 1, '0'],
  ]);
  assert.deepEqual(await groups('group_by=model', `/agents/${other}/usage`), [models[0]]);
  assert.deepEqual(await groups('bucket_width=all', `/agents/${other}/usage`), [[null, 1, '1']]);
});

test('days are those of the time zone', async () => {
  const query = 'starting_at=2026-03-10T12:00:00Z&ending_at=2026-03-10T12:30:00Z&time_zone=Pacific/Auckland';
  const { body } = await client.call('GET', `/usage?${query}`);
  assert.deepEqual([body.starting_at, body.time_zone], ['2026-03-10T11:00:00.000Z', 'Pacific/Auckland']);
  assert.equal(body.totals.llm.requests, 5);
});

test('machines are counted while they run, pause and stop, and their counters with them', async () => {
  const owner = new Client(world);
  const id = await owner.agent('running');
  world.host.usage = { ...world.host.usage, cpuSeconds: 7, egressBytes: 321 };
  await new Promise((resolve) => setTimeout(resolve, 200));
  for (const verb of ['pause', 'resume', 'stop']) await owner.call('POST', `/agents/${id}/${verb}`);
  const { totals } = (await client.call('GET', `/agents/${id}/usage?bucket_width=1m`)).body;
  const { compute, network } = totals;
  assert.ok(
    compute.running_seconds > 0.2 && compute.paused_seconds > 0 && compute.stopped_seconds > 0,
    JSON.stringify(compute),
  );
  assert.equal(compute.vcpu_seconds, compute.running_seconds, 'a small machine has one');
  const held = compute.running_seconds + compute.paused_seconds;
  assert.equal(compute.memory_gb_seconds, Number((held * 2).toFixed(3)));
  assert.ok(compute.storage_gb_seconds > held);
  assert.deepEqual([compute.cpu_seconds, network.egress_bytes], [7, 321], 'read before the machine ended');
  world.host.usage = { ...world.host.usage, cpuSeconds: 2, egressBytes: 9 };
  await owner.call('POST', `/agents/${id}/start`);
  await owner.call('DELETE', `/agents/${id}`);
  const all = (await client.call('GET', `/agents/${id}/usage?bucket_width=all`)).body.totals;
  assert.deepEqual(
    [all.compute.cpu_seconds, all.network.egress_bytes],
    [9, 330],
    'another execution counts from nought',
  );
});

test('csv holds the same records, a line each, quoted where it must be', async () => {
  const answer = await client.call('GET', `/usage?${range}&group_by=model&format=csv`);
  assert.match(answer.headers.get('content-type')!, /^text\/csv/);
  const [names, ...lines] = answer.text.trimEnd().split('\r\n');
  assert.match(
    names!,
    /^starting_at,ending_at,group,running_seconds,.*,requests,.*,cost_compute,cost_llm,cost_storage,cost_total$/,
  );
  const day = '2026-03-10T00:00:00.000Z,2026-03-11T00:00:00.000Z';
  assert.deepEqual(lines, [
    `${day},"anthropic/a,""b""",0,0,0,0,0,0,0,1,100,10,5,0,0,0,0,0,1,0,1`,
    `${day},anthropic/claude-sonnet-5,0,0,0,0,0,0,0,3,300,30,15,0,0,0,0,0,0.001350003,0,0.001350003`,
    `${day},openai/gpt-x,0,0,0,0,0,0,0,1,100,10,5,0,1,1,0,0,0,0,0`,
  ]);
});

test('calls are listed newest first, page by page, without what was said', async () => {
  const first = (await client.call('GET', `/agents/${one}/llm-calls?limit=3`)).body;
  const { id, started_at, ...rest } = first.data[1];
  assert.equal(new Date(started_at).getUTCHours(), 12);
  assert.match(id, /^call-\d+$/);
  assert.deepEqual(rest, {
    object: 'llm_call',
    provider: 'anthropic',
    model: 'claude-sonnet-5',
    api: 'anthropic-messages',
    outcome: 'ok',
    status: 200,
    duration_ms: 900,
    time_to_first_byte_ms: 210,
    input_tokens: 100,
    output_tokens: 10,
    cache_read_tokens: 5,
    cache_write_tokens: 0,
    reasoning_tokens: null,
    estimated: false,
    cost: '0.000450001',
    price_version: 'list',
  });
  const second = (await client.call('GET', `/agents/${one}/llm-calls?limit=3&cursor=${first.next_cursor}`)).body;
  assert.deepEqual(
    [first.data.length, first.has_more, second.data.length, second.has_more, second.next_cursor],
    [3, true, 1, false, null],
  );
  assert.equal(new Set([...first.data, ...second.data].map((each) => each.id)).size, 4);
  const elsewhere = await client.call('GET', `/agents/${other}/llm-calls?cursor=${first.next_cursor}`);
  assert.deepEqual([elsewhere.status, elsewhere.body.error.code], [400, 'invalid_request']);
});

test("a deleted agent's past is kept", async () => {
  const owner = new Client(world);
  const id = await owner.agent('running');
  await call(id);
  assert.equal((await owner.call('DELETE', `/agents/${id}`)).status, 200);
  const { totals } = (await client.call('GET', `/agents/${id}/usage?${range}&bucket_width=all`)).body;
  assert.equal(totals.llm.requests, 1);
  assert.equal((await client.call('GET', `/agents/${id}/llm-calls`)).body.data.length, 1);
  const byAgent = (await client.call('GET', `/usage?${range}&group_by=agent&bucket_width=all`)).body.data;
  assert.ok(byAgent.some(({ group }: { group: string }) => group === id));
});

const wrong: readonly [string, RegExp][] = [
  ['bucket_width=2h', /bucket_width/],
  ['group_by=account', /group_by/],
  ['format=xml', /format/],
  ['time_zone=Mars/Olympus', /time_zone/],
  ['time_zone=Europe/Berlin&bucket_width=1h', /time_zone/],
  ['starting_at=yesterday', /starting_at/],
  ['starting_at=2026-02-30T00:00:00Z', /starting_at/],
  ['starting_at=2026-01-02T00:00:00Z&ending_at=2026-01-02T00:00:00Z', /starting_at/],
  ['starting_at=1999-01-01T00:00:00Z', /starting_at/],
  ['starting_at=2026-01-01T00:00:00Z&ending_at=2026-01-03T00:00:00Z&bucket_width=1m', /bucket_width/],
  ['since=2026-01-01T00:00:00Z', /since/],
];
for (const [query, names] of wrong) {
  test(`wrong: ${query}`, async () => {
    for (const path of ['/usage', `/agents/${one}/usage`]) {
      const { status, body } = await client.call('GET', `${path}?${query}`);
      assert.deepEqual([status, body.error.code], [400, 'invalid_request']);
      assert.match(body.error.message, names);
    }
  });
}

test("another account's agents are none", async () => {
  const stranger = new Client(world, await world.keyOf(await world.newAccount()));
  for (const path of [
    `/agents/${one}/usage`,
    `/agents/${one}/llm-calls`,
    '/agents/nobody/usage',
    '/agents/nobody/llm-calls',
  ]) {
    const { status, body } = await stranger.call('GET', path);
    assert.deepEqual([status, body.error.code], [404, 'agent_not_found']);
  }
  assert.equal((await stranger.call('GET', `/usage?${range}`)).body.totals.llm.requests, 0);
});
