/** The host renews the access of connections: once, however many need it, and whatever dies meanwhile. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client as Database } from 'pg';
import { anyAddress, connections, fine, openStand } from './api/oauth-stand.ts';
import type { ToolCall } from './api/tool-caller.ts';
import { startServer, testMasterKey } from './api/world.ts';

const stand = openStand();
const { here, sql, start, put, record, consent, call, due, eventsOf, linesOf, checkNothingLeaked } = stand;

test('ten calls at once renew once, when access is over by the clock', async () => {
  await start();
  await put();
  await consent();
  await due();
  const all = await Promise.all(Array.from({ length: 10 }, () => call()));
  assert.deepEqual(
    all,
    Array.from({ length: 10 }, () => fine),
  );
  assert.deepEqual([here.oauth.seen.refreshes, here.oauth.seen.reused], [1, 0]);
});

test('ten calls at once renew once, when the server refuses what the clock takes for good', async () => {
  await start();
  await put();
  await consent();
  assert.deepEqual(await call(), fine);
  here.oauth.expire();
  const all = await Promise.all(Array.from({ length: 10 }, () => call()));
  assert.deepEqual(
    all,
    Array.from({ length: 10 }, () => fine),
  );
  assert.deepEqual([here.oauth.seen.refreshes, here.oauth.seen.reused], [1, 0]);
});

test('processes over one database renew once, between them', async () => {
  await start();
  await put();
  await consent();
  const { connectionString } = here.world;
  const others = await Promise.all([1, 2].map(() => startServer({ connectionString, ...connections, loops: false })));
  try {
    for (let round = 1; round <= 3; round += 1) {
      await due();
      here.oauth.expire();
      here.oauth.hold(() => sleep(150));
      const all = await Promise.all(
        [here.world, ...others, here.world, ...others].map((each) => call('work__hello', each)),
      );
      assert.deepEqual(
        all,
        Array.from({ length: 6 }, () => fine),
      );
      assert.deepEqual([here.oauth.seen.refreshes, here.oauth.seen.reused], [round, 0]);
    }
  } finally {
    for (const each of others) await each.close();
  }
});

/** A process of its own that calls the tool. */
function caller(claimMs: number) {
  const entry = fileURLToPath(new URL('api/tool-caller.ts', import.meta.url));
  const masterKey = testMasterKey.toString('hex');
  const settings: ToolCall = {
    connectionString: here.world.connectionString,
    masterKey,
    agentId: here.agentId,
    tool: 'work__hello',
    claimMs,
  };
  const child = spawn(process.execPath, [entry], {
    env: { ...process.env, TOOL_CALL: JSON.stringify(settings) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const gone = once(child, 'exit');
  return {
    answer: async () => String((await once(child.stdout, 'data'))[0]),
    async kill() {
      child.kill('SIGKILL');
      await gone;
    },
  };
}
const until = async (isSo: () => Promise<boolean> | boolean) => {
  for (let tries = 0; !(await isSo()); tries += 1) {
    assert.ok(tries < 400, 'it does not come to that');
    await sleep(50);
  }
};
const isClaimed = async () =>
  (await sql('select from connection_oauth where agent_id = $agent and claimed_until > now()')).rows.length > 0;

test('kill -9 while the authorization server has not looked yet: the next process renews', async () => {
  let isHeld = true;
  const held: (() => void)[] = [];
  await start({
    instead(asked, _req, res) {
      if (asked !== '/token' || !isHeld || here.oauth.seen.exchanges === 0) return false;
      held.push(() => res.destroy());
      return true;
    },
  });
  await put();
  await consent();
  await due();
  const child = caller(4_000);
  await until(() => held.length === 1);
  assert.ok(await isClaimed());
  await child.kill();
  isHeld = false;
  held[0]!();
  assert.deepEqual(await call(), fine);
  assert.deepEqual([here.oauth.seen.refreshes, here.oauth.seen.reused, held.length], [1, 0, 1]);
});

test('kill -9 with an answer that was not stored: a token that is good once is lost, and its owner is told', async () => {
  await start();
  await put();
  await consent();
  await due();
  let answerNow = (): void => undefined;
  here.oauth.hold(() => new Promise<void>((resolve) => (answerNow = resolve)));
  const child = caller(4_000);
  await until(() => here.oauth.seen.refreshes === 1);
  const lock = await holdRow();
  answerNow();
  // It has the answer, and waits to write it.
  const writers = `from pg_stat_activity where wait_event_type = 'Lock' and query like '%connection_oauth%'`;
  await until(async () => (await sql(`select ${writers}`)).rows.length === 1);
  await child.kill();
  await sql(`select pg_terminate_backend(pid) ${writers}`);
  await lock();
  here.oauth.hold(() => Promise.resolve());
  assert.equal((await record()).oauth.status, 'connected');
  const [isError, sentence] = await call();
  assert.equal(isError, true);
  assert.match(sentence, /owner must consent/);
  assert.equal(here.oauth.seen.reused, 1);
  assert.equal((await record()).oauth.status, 'needed');
  await consent();
  assert.deepEqual(await call(), fine);
});

test('kill -9 behind the write: what was stored is used, and nothing is asked', async () => {
  await start();
  await put();
  await consent();
  await due();
  const child = caller(4_000);
  assert.match(await child.answer(), /hello/);
  await child.kill();
  assert.deepEqual(await call(), fine);
  assert.deepEqual([here.oauth.seen.refreshes, here.oauth.seen.reused], [1, 0]);
});

/** Nobody writes the row until it is called. */
async function holdRow(): Promise<() => Promise<unknown>> {
  const other = new Database({ connectionString: here.world.connectionString });
  await other.connect();
  await other.query('begin');
  await other.query('select from connection_oauth where agent_id = $1 for update', [here.agentId]);
  return () => other.end();
}

test('renewed access that the database does not take is held until it does: nothing is asked twice', async () => {
  await start();
  await put();
  await consent();
  assert.deepEqual(await call(), fine);
  await due();
  let answerNow = (): void => undefined;
  here.oauth.hold(() => new Promise<void>((resolve) => (answerNow = resolve)));
  const calling = call();
  await until(() => here.oauth.seen.refreshes === 1);
  const lock = await holdRow();
  answerNow();
  // The statement's time is over.
  const [isError] = await calling;
  assert.equal(isError, true);
  await lock();
  here.oauth.hold(() => Promise.resolve());
  assert.deepEqual(await call(), fine);
  assert.deepEqual([here.oauth.seen.refreshes, here.oauth.seen.reused], [1, 0]);
});

test('access that was taken back: one line, one event, words to the agent, and another consent mends it', async () => {
  await start();
  await put();
  await consent();
  assert.deepEqual(await call(), fine);
  here.oauth.revoke();
  const all = await Promise.all(Array.from({ length: 5 }, () => call()));
  for (const [isError, sentence] of all) {
    assert.equal(isError, true);
    assert.match(sentence, /owner must consent|changed a moment ago/);
  }
  const { oauth: now } = await record();
  assert.deepEqual([now.status, now.scope, now.expires_at], ['needed', null, null]);
  assert.match(now.reason, /taken back/);
  const events = await eventsOf('connection.consent_needed');
  assert.equal(events.length, 1);
  assert.deepEqual((events[0] as { data: object }).data, { connection: 'work', message: now.reason });
  assert.equal((await linesOf()).filter((line) => line.startsWith('Connection work needs a consent:')).length, 1);
  await consent();
  assert.deepEqual(await call(), fine);
});

test('an authorization server that is away is asked again later; access that is good meanwhile is used', async () => {
  let away = false;
  let asked = 0;
  await start({
    instead(place, _req, res) {
      if (place !== '/token' || !away) return false;
      asked += 1;
      res.writeHead(503).end('{"error":"temporarily_unavailable"}');
      return true;
    },
  });
  await put();
  await consent();
  away = true;
  await sql(`update connection_oauth set renew_at = now() where agent_id = $agent`);
  assert.deepEqual(await call(), fine);
  assert.equal((await record()).oauth.status, 'failed');
  const again = () => sql(`update connection_oauth set retry_at = now() where agent_id = $agent`);
  await due();
  await again();
  const [isError, sentence] = await call();
  assert.equal(isError, true);
  assert.match(sentence, /does not renew it for now/);
  const before = asked;
  await Promise.all(Array.from({ length: 5 }, () => call()));
  assert.equal(asked, before, 'not again at once');
  away = false;
  await again();
  assert.deepEqual(await call(), fine);
  assert.equal((await record()).oauth.status, 'connected');
  assert.deepEqual([here.oauth.seen.refreshes, here.oauth.seen.reused], [1, 0]);
});

test('access that does not last: its end asks for a consent', async () => {
  await start({ fleeting: true });
  await put();
  await consent();
  assert.deepEqual(await call(), fine);
  await due();
  assert.match((await call())[1], /owner must consent/);
  assert.match((await record()).oauth.reason, /none that lasts/);
});

test('a server that refuses what was just given gets no further one', async () => {
  let refuses = false;
  await start({
    instead(asked, _req, res) {
      if (asked !== '/mcp' || !refuses) return false;
      res.writeHead(401, { 'www-authenticate': 'Bearer error="invalid_token"' }).end();
      return true;
    },
  });
  const strict = await startServer({
    connectionString: here.world.connectionString,
    loops: false,
    settings: anyAddress,
  });
  try {
    await put();
    await consent();
    refuses = true;
    for (let n = 0; n < 3; n += 1) assert.match((await call('work__hello', strict))[1], /refuses the access/);
    assert.equal(here.oauth.seen.refreshes, 0);
  } finally {
    await strict.close();
  }
});

test('no token and no secret is in a reply, a page, a log, an event or the database in the clear', checkNothingLeaked);
