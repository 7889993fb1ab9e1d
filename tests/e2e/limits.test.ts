/**
 * Rate limits and idempotency over two server processes and one database, and through kill -9 of one of them: together they
 * let no more through than one would, and a request with an Idempotency-Key has its effect once.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { TestContext } from 'node:test';
import { spawnServer } from './api/server-child.ts';
import type { ServerChild } from './api/server-child.ts';
import { holderOf, openWorld, send } from './api/world.ts';
import type { Answer, Call, World } from './api/world.ts';

const rates = { reads: 600, writes: 30, creates: 200, calls: 600, address: 60, createsAtOnce: 5 };
let world: World;
let one: ServerChild;
let two: ServerChild;

before(async () => {
  world = await openWorld();
  const { connectionString } = world;
  [one, two] = await Promise.all([
    spawnServer({ connectionString, rates, createWaitMs: 20_000 }),
    spawnServer({ connectionString, rates, createWaitMs: 20_000 }),
  ]);
});
after(async () => {
  await one?.kill();
  await two?.kill();
  await world?.close();
});

const burst = (count: number, method: string, path: string, call: Call): Promise<Answer[]> =>
  Promise.all(Array.from({ length: count }, (_, i) => send((i % 2 ? one : two).url, method, path, call)));
const withStatus = (answers: readonly Answer[], status: number): Answer[] =>
  answers.filter((answer) => answer.status === status);

/** The server that has the machine of this agent: whichever was first to take it on. */
async function homeOf(id: string): Promise<string> {
  const { rows } = await world.sql.query<{ host: string }>('select host from agents where id = $1', [id]);
  const servers = [{ url: world.url, holder: holderOf(process.pid) }, one, two];
  return servers.find(({ holder }) => holder === rows[0]!.host)!.url;
}

test('600 reads a minute of one key, through two servers: never more, and at most a tenth less', async (t: TestContext) => {
  const key = await world.keyOf(world.accountId);
  const started = performance.now();
  const answers: Answer[] = [];
  for (let i = 0; i < 8; i += 1) answers.push(...(await burst(100, 'GET', '/v1/sizes', { key })));
  const seconds = (performance.now() - started) / 1000;
  const allowed = withStatus(answers, 200).length;
  const most = 600 + Math.ceil((seconds + 2) * 10);
  t.diagnostic(`${allowed} of 800 allowed in ${seconds.toFixed(1)} s over two processes (bound ${most})`);
  assert.ok(allowed <= most, `${allowed} <= ${most}`);
  assert.ok(allowed >= 540, `${allowed} >= 540`);
  const refused = withStatus(answers, 429);
  assert.equal(allowed + refused.length, 800);
  for (const { body, headers } of refused) {
    assert.deepEqual([body.error.type, body.error.code], ['rate_limit_error', 'rate_limit_exceeded']);
    assert.match(headers.get('retry-after')!, /^[1-9]\d*$/);
    assert.equal(headers.get('x-ratelimit-remaining'), '0');
  }
  // Another kind of request of the same key, and another key, are not touched.
  assert.equal((await send(one.url, 'POST', '/v1/agents/aaaaaaaaaaaa/stop', { key })).status, 404);
  assert.equal((await send(one.url, 'GET', '/v1/sizes', { key: await world.keyOf(world.accountId) })).status, 200);
});

test('every reply says where one stands, and Retry-After is right', async () => {
  const key = await world.keyOf(world.accountId);
  const first = await send(one.url, 'POST', '/v1/agents/aaaaaaaaaaaa/stop', { key });
  assert.equal(first.headers.get('x-ratelimit-limit'), '30');
  assert.equal(first.headers.get('x-ratelimit-remaining'), '29');
  const reset = Number(first.headers.get('x-ratelimit-reset')) - Date.now() / 1000;
  assert.ok(reset > 0 && reset <= 4, String(reset));
  let last = first;
  for (let i = 0; last.status !== 429; i += 1) {
    assert.ok(i < 60);
    last = await send(one.url, 'POST', '/v1/agents/aaaaaaaaaaaa/stop', { key });
  }
  await new Promise((resolve) => setTimeout(resolve, Number(last.headers.get('retry-after')) * 1000));
  const again = await send(one.url, 'POST', '/v1/agents/aaaaaaaaaaaa/stop', { key });
  assert.equal(again.status, 404, 'after Retry-After it is taken again');
  for (const [method, path] of [
    ['GET', '/v1/nothing'],
    ['PUT', '/v1/agents'],
    ['OPTIONS', '/v1/agents'],
    ['HEAD', '/v1/sizes'],
    ['GET', '/v1/agents/%zz'],
    ['POST', '/v1/agents'],
  ] as const) {
    const { headers, status } = await send(one.url, method, path, { key });
    assert.ok(headers.get('x-ratelimit-limit'), `${method} ${path} ${status}`);
    assert.ok(headers.get('x-request-id'), `${method} ${path} ${status}`);
  }
});

test('60 a minute of an address without a valid key; then 429 comes before 401, and valid keys still pass', async () => {
  const started = performance.now();
  const answers = await burst(120, 'GET', '/v1/agents', { key: 'lodge_live_wrong' });
  const unauthorized = withStatus(answers, 401).length;
  // One comes back with each second.
  const most = 60 + Math.ceil((performance.now() - started) / 1000 + 2);
  assert.ok(unauthorized >= 54 && unauthorized <= most, `54 <= ${unauthorized} <= ${most}`);
  assert.equal(withStatus(answers, 429).length, 120 - unauthorized);
  const forged = await burst(20, 'GET', '/v1/health', { headers: { 'x-forwarded-for': '203.0.113.9' } });
  assert.ok(withStatus(forged, 429).length > 0, 'nobody is trusted to say who asks');
  assert.equal((await send(one.url, 'GET', '/v1/sizes', { key: world.key })).status, 200);
});

test('creates: five of a key at once, over both servers', async () => {
  const key = await world.keyOf(world.accountId);
  // A create is a moment's work here: the places are taken beforehand.
  const { rows } = await world.sql.query<{ id: string }>(
    "select id from api_keys where name <> '' order by created_at desc limit 1",
  );
  const subject = `api_key:${rows[0]!.id}`;
  for (let i = 0; i < 5; i += 1) {
    await world.sql.query("insert into rate_places (subject, until) values ($1, now() + interval '1 minute')", [
      subject,
    ]);
  }
  for (const { url } of [one, two]) {
    const refused = await send(url, 'POST', '/v1/agents', { key, body: { name: 'x' } });
    assert.deepEqual([refused.status, refused.body.error.code], [429, 'rate_limit_exceeded']);
    assert.ok(refused.headers.get('retry-after'));
  }
  await world.sql.query('delete from rate_places where subject = $1', [subject]);
  assert.equal((await send(one.url, 'POST', '/v1/agents', { key, body: { name: 'x' } })).status, 201);
});

test('commands of root count among a key’s changes, too: they push nobody’s acts out of the audit log', async () => {
  const key = await world.keyOf(world.accountId);
  const { body: agent } = await send(world.url, 'POST', '/v1/agents', { key: world.key, body: { name: 'rooted' } });
  const path = `/v1/agents/${agent.id}/exec`;
  const command = (user: string) => ({ key, body: { command: 'true', user } });
  const started = performance.now();
  const answers = await burst(60, 'POST', path, command('root'));
  const most = rates.writes + Math.ceil((performance.now() - started) / 2000 + 2);
  // Nobody answers in these machines: what passes the limit comes so far.
  const passed = withStatus(answers, 503).length;
  assert.ok(passed > 0 && passed <= most, `${passed} <= ${most}`);
  assert.equal(withStatus(answers, 429).length, 60 - passed);
  const { rowCount } = await world.sql.query("select 1 from events where type = 'agent.root_used'");
  assert.ok(rowCount! <= passed, `${rowCount} events of ${passed}`);
  assert.equal((await send(one.url, 'POST', path, command('agent'))).status, 503, 'the agent’s own are not touched');
});

const agentsNamed = async (name: string): Promise<number> => {
  const { rows } = await world.sql.query<{ count: number }>(
    'select count(*)::int as count from agents where name = $1',
    [name],
  );
  return rows[0]!.count;
};

async function agentMade(name: string): Promise<void> {
  while ((await agentsNamed(name)) === 0) await new Promise((resolve) => setTimeout(resolve, 1));
}

test('the same create 20 times at once through two servers is one agent; the others wait or see its very reply', async () => {
  const key = await world.keyOf(world.accountId);
  const headers = { 'idempotency-key': 'create-once' };
  const body = { name: 'once' };
  const answers = await burst(20, 'POST', '/v1/agents', { key, headers, body });
  assert.equal(await agentsNamed('once'), 1);
  for (const { status, body: reply } of answers) {
    assert.ok(status === 201 || reply.error.code === 'idempotency_in_progress', JSON.stringify(reply));
  }
  const replayed = await send(two.url, 'POST', '/v1/agents', { key, headers, body: { name: 'once' } });
  assert.deepEqual([replayed.status, replayed.headers.get('idempotent-replayed')], [201, 'true']);
  const first = answers.find(({ status, headers: sent }) => status === 201 && !sent.has('idempotent-replayed'))!;
  assert.equal(replayed.text, first.text);
  for (const name of ['location', 'etag', 'content-type'])
    assert.equal(replayed.headers.get(name), first.headers.get(name));
  const other = await send(one.url, 'POST', '/v1/agents', { key, headers, body: { name: 'other' } });
  assert.deepEqual([other.status, other.body.error.code], [409, 'idempotency_key_reused']);
  const elsewhere = await send(one.url, 'POST', `/v1/agents/${first.body.id}/stop`, { key, headers });
  assert.equal(elsewhere.body.error.code, 'idempotency_key_reused');
});

test("another account's idempotency key says nothing", async () => {
  const headers = { 'idempotency-key': 'create-once' };
  const key = await world.keyOf(await world.newAccount());
  const answer = await send(one.url, 'POST', '/v1/agents', { key, headers, body: { name: 'once' } });
  assert.equal(answer.status, 201);
  assert.equal(answer.headers.has('idempotent-replayed'), false);
});

test('what was refused for a while may be tried again with the same key', async () => {
  const key = await world.keyOf(await world.newAccount());
  const created = await send(one.url, 'POST', '/v1/agents', { key, body: { name: 'a' } });
  const path = `/v1/agents/${created.body.id}`;
  await send(one.url, 'POST', `${path}/stop`, { key });
  const headers = { 'idempotency-key': 'later' };
  const refused = await send(one.url, 'POST', `${path}/restart`, { key, headers });
  assert.equal(refused.body.error.code, 'agent_not_running');
  const started = await send(one.url, 'POST', `${path}/start`, { key });
  assert.equal(started.body.status, 'running', started.text);
  const restarted = await send(two.url, 'POST', `${path}/restart`, { key, headers });
  assert.equal(restarted.status, 200, restarted.text);
  assert.equal(
    (await send(two.url, 'POST', `${path}/restart`, { key, headers })).headers.get('idempotent-replayed'),
    'true',
  );
});

test('a chat is replayed; one that streamed is not, and neither is carried out twice', async () => {
  const key = await world.keyOf(await world.newAccount());
  const { body: agent } = await send(one.url, 'POST', '/v1/agents', { key, body: { name: 'a' } });
  const path = `/v1/agents/${agent.id}/chat/completions`;
  const home = await homeOf(agent.id);
  const messages = [{ role: 'user', content: 'hello' }];
  const first = await send(home, 'POST', path, { key, headers: { 'idempotency-key': 'chat' }, body: { messages } });
  assert.equal(first.status, 200, first.text);
  // The reply is in the database: a server that has not got the agent replays it too.
  const elsewhere = home === two.url ? one.url : two.url;
  const again = await send(elsewhere, 'POST', path, {
    key,
    headers: { 'idempotency-key': 'chat' },
    body: { messages },
  });
  assert.equal(again.text, first.text);
  const headers = { 'idempotency-key': 'stream' };
  const streamed = await send(home, 'POST', path, { key, headers, body: { messages, stream: true } });
  assert.match(streamed.text, /\[DONE\]/);
  const refused = await send(home, 'POST', path, { key, headers, body: { messages, stream: true } });
  assert.deepEqual([refused.status, refused.body.error.code], [409, 'idempotency_key_reused']);
});

test('a server killed between the effect and its record: the same create again finds the agent it made', async (t) => {
  const { connectionString } = world;
  const rounds = 3;
  let killedAfterEffect = 0;
  for (let round = 0; round < rounds; round += 1) {
    const key = await world.keyOf(await world.newAccount());
    const name = `killed-${round}`;
    const headers = { 'idempotency-key': name };
    // Its agents stay in provisioning for a while: the reply is not there when it is killed.
    const doomed = await spawnServer({ connectionString, rates, createWaitMs: 20_000 });
    const lost = send(doomed.url, 'POST', '/v1/agents', { key, headers, body: { name } }).then(
      () => false,
      () => true,
    );
    const waitForEffect = round % 2 === 0;
    if (waitForEffect) await agentMade(name);
    await doomed.kill();
    if ((await lost) && waitForEffect) killedAfterEffect += 1;
    const deadline = Date.now() + 240_000;
    let answer: Answer;
    do {
      answer = await send(two.url, 'POST', '/v1/agents', { key, headers, body: { name } });
      if (answer.status === 409) {
        assert.equal(answer.body.error.code, 'idempotency_in_progress');
        await new Promise((resolve) => setTimeout(resolve, Number(answer.headers.get('retry-after')) * 1000));
      }
    } while (answer.status === 409 && Date.now() < deadline);
    assert.ok(answer.status === 201 || answer.status === 202, `${answer.status} ${answer.text}`);
    assert.equal(await agentsNamed(name), 1, 'one agent, whenever it was killed');
    const { rows } = await world.sql.query<{ id: string }>('select id from agents where name = $1', [name]);
    assert.equal(answer.body.id, rows[0]!.id);
  }
  t.diagnostic(`${rounds} kills, ${killedAfterEffect} of them after the agent was there and before the reply`);
});
