/**
 * OAuth of a service over HTTP, and of a host under its own name: requests have the access that a person gave, renewed once for
 * all of them.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client as Database } from 'pg';
import type { OAuthServerOptions } from '../../packages/connections/src/testing/oauth-server.ts';
import { clientSecret, connections, openStand } from './api/oauth-stand.ts';
import { openDoor, serviceHost } from './api/service-door.ts';
import type { Asked, ServiceDoor } from './api/service-door.ts';
import { testMasterKey } from './api/world.ts';

const stand = openStand();
const { here, callback, sql, record, begin, browser, visit, back, consent, due, eventsOf, linesOf } = stand;

const oauthBounds = connections.bounds.oauth;
const doors: Awaited<ReturnType<typeof openDoor>>[] = [];
const kinds = ['http', 'host'] as const;
type Kind = (typeof kinds)[number];
const settings = (bounds: ServiceDoor['oauthBounds'] = oauthBounds, kind: Kind = 'http'): ServiceDoor => ({
  connectionString: here.world.connectionString,
  masterKey: testMasterKey.toString('hex'),
  agentId: here.agentId,
  oauthBounds: bounds,
  ...(kind === 'host' && { hostLeadsTo: here.oauth.origin }),
});
/** The door of one more server. */
async function door(bounds?: ServiceDoor['oauthBounds'], kind?: Kind) {
  const opened = await openDoor(settings(bounds, kind));
  doors.push(opened);
  return async (init: Asked = {}) => {
    const answer = await opened.get('/hello', init);
    stand.shown(answer.text);
    return answer;
  };
}
const closeDoors = () => Promise.all(doors.splice(0).map((each) => each.close()));
afterEach(closeDoors);

async function start(options: OAuthServerOptions = {}) {
  await stand.start({
    service: true,
    client: { id: 'by-hand', secret: clientSecret, redirectUri: 'http://127.0.0.1/x' },
    ...options,
  });
  here.oauth.setRedirect(callback());
}
const auth = () => ({
  kind: 'oauth',
  client_id: 'by-hand',
  client_secret: clientSecret,
  client_auth: 'client_secret_post',
  authorization_url: `${here.oauth.origin}/authorize?access_type=offline`,
  token_url: `${here.oauth.origin}/token`,
  scope: 'notes:read',
});
const put = (given: object = {}) =>
  stand.put({
    kind: 'http',
    url: `${here.oauth.origin}/api`,
    allow: [{ methods: ['GET', 'POST'], paths: ['/*'] }],
    auth: auth(),
    ...given,
  });
/** A connection's own fields as a host's. */
const ofHost = { kind: 'host', url: undefined, hosts: [serviceHost] };
async function connected(options: OAuthServerOptions = {}, kind: Kind = 'http') {
  await start(options);
  assert.equal((await put(kind === 'host' ? ofHost : {})).status, 200);
  await consent();
}
const fine = { status: 200, text: 'hello ' };
const codeOf = ({ status, text }: { readonly status: number; readonly text: string }) =>
  [status, (JSON.parse(text) as { error: { code: string } }).error.code] as const;

test('a service from its consent to its answer: record, page, requests, event and log', async () => {
  await start();
  const { body } = await put();
  const { client_secret: shown, ...rest } = body.auth;
  const { client_secret: _given, ...sent } = auth();
  assert.deepEqual([rest, shown.last4], [sent, '9f2c']);
  assert.equal(body.oauth.status, 'needed');
  const call = await door();
  const refused = await call();
  assert.deepEqual(codeOf(refused), [403, 'consent_needed']);
  assert.match(refused.text, /owner must consent/);
  assert.equal(here.oauth.seen.calls, 0, 'no request goes out without access');

  const to = new URL(await browser.agree((await begin()).body.authorization_url));
  const query = Object.fromEntries(to.searchParams);
  assert.deepEqual(
    [query.access_type, query.scope, query.code_challenge_method, query.resource],
    ['offline', 'notes:read', 'S256', undefined],
  );
  const { page } = await consent();
  assert.match(page.text, /can now use work/);
  const { oauth: now } = await record();
  assert.deepEqual([now.status, now.scope], ['connected', 'notes:read']);
  assert.deepEqual(await call({ headers: { authorization: 'Bearer of-the-guest' } }), fine);
  assert.equal((await eventsOf('connection.connected')).length, 1);
  await closeDoors();
  const lines = await linesOf();
  assert.ok(lines.some((line) => /^Connection work: GET \/hello was refused\. .*owner must consent/.test(line)));
  assert.ok(lines.some((line) => line.startsWith('Connection work: GET /hello was answered with 200')));
});

for (const kind of kinds)
  test(`${kind}: fifty calls at once, at two servers, renew once, when access is over by the clock and when it is refused`, async () => {
    await connected({}, kind);
    const both = [await door(oauthBounds, kind), await door(oauthBounds, kind)];
    const fifty = () => Promise.all(Array.from({ length: 50 }, (_, n) => both[n % 2]!()));
    for (const [renewals, end] of [
      [1, due],
      [2, async () => here.oauth.expire()],
    ] as const) {
      await end();
      here.oauth.hold(() => sleep(150));
      for (const answer of await fifty()) assert.deepEqual(answer, fine);
      assert.deepEqual([here.oauth.seen.refreshes, here.oauth.seen.reused], [renewals, 0]);
    }
  });

test('a request with a body that is refused for its old access comes once more, whole', async () => {
  const bodies: string[] = [];
  await connected({
    instead(asked, req) {
      if (asked === '/api/hello') req.setEncoding('utf8').on('data', (text: string) => bodies.push(text));
      return false;
    },
  });
  here.oauth.expire();
  const call = await door();
  assert.deepEqual(await call({ method: 'POST', body: 'a note' }), fine);
  assert.deepEqual(bodies, ['a note', 'a note']);
});

for (const kind of kinds)
  test(`${kind}: kill -9 with an answer that was not stored: the record, an event and the agent say that a consent is needed`, async () => {
    await connected({}, kind);
    await due();
    let answerNow = (): void => undefined;
    here.oauth.hold(() => new Promise<void>((resolve) => (answerNow = resolve)));
    const entry = fileURLToPath(new URL('api/service-door.ts', import.meta.url));
    const SERVICE_DOOR = JSON.stringify(settings({ claimMs: 4_000 }, kind));
    const child = spawn(process.execPath, [entry], { env: { ...process.env, SERVICE_DOOR }, stdio: 'inherit' });
    const gone = once(child, 'exit');
    await until(() => here.oauth.seen.refreshes === 1);
    const holder = new Database({ connectionString: here.world.connectionString });
    await holder.connect();
    await holder.query('begin');
    await holder.query('select from connection_oauth where agent_id = $1 for update', [here.agentId]);
    answerNow();
    // It has the answer, and waits to write it.
    const writers = `from pg_stat_activity where wait_event_type = 'Lock' and query like '%connection_oauth%'`;
    await until(async () => (await sql(`select ${writers}`)).rows.length === 1);
    child.kill('SIGKILL');
    await gone;
    await sql(`select pg_terminate_backend(pid) ${writers}`);
    await holder.end();
    here.oauth.hold(() => Promise.resolve());

    const call = await door(oauthBounds, kind);
    const all = await Promise.all(Array.from({ length: 50 }, () => call()));
    for (const answer of all) assert.deepEqual(codeOf(answer), [403, 'consent_needed'], answer.text);
    assert.deepEqual([here.oauth.seen.refreshes, here.oauth.seen.reused], [1, 1]);
    const { oauth: now } = await record();
    assert.deepEqual([now.status, now.expires_at], ['needed', null]);
    assert.match(now.reason, /used up/);
    const events = await eventsOf('connection.consent_needed');
    assert.deepEqual(
      events.map(({ data }) => data),
      [{ connection: 'work', message: now.reason }],
    );
    await consent();
    assert.deepEqual(await call(), fine);
  });

const until = async (isSo: () => Promise<boolean> | boolean) => {
  for (let tries = 0; !(await isSo()); tries += 1) {
    assert.ok(tries < 400, 'it does not come to that');
    await sleep(50);
  }
};

test('a program’s own authorization is replaced, and a body that passes is not sent twice: its next try has the access', async () => {
  const bodies: string[] = [];
  await connected(
    {
      instead(asked, req) {
        if (asked === '/api/hello') req.setEncoding('utf8').on('data', (text: string) => bodies.push(text));
        return false;
      },
    },
    'host',
  );
  const call = await door(oauthBounds, 'host');
  assert.deepEqual(await call({ headers: { authorization: 'Bearer of-the-guest' } }), fine);
  here.oauth.expire();
  const post = { method: 'POST', body: 'a note' } as const;
  assert.deepEqual(await call(post), { status: 401, text: 'no access' });
  assert.deepEqual([await call(post), bodies], [fine, ['a note', 'a note']]);
});

test('access that was taken back: one event, words to the agent, and another consent mends it', async () => {
  await connected();
  const call = await door();
  here.oauth.revoke();
  for (const answer of await Promise.all(Array.from({ length: 10 }, () => call()))) {
    assert.deepEqual(codeOf(answer), [403, 'consent_needed'], answer.text);
  }
  assert.equal((await eventsOf('connection.consent_needed')).length, 1);
  assert.match((await record()).oauth.reason, /taken back/);
  await consent();
  assert.deepEqual(await call(), fine);
});

test("a service's own refusal passes: of access that was just given, and of a token endpoint that is away", async () => {
  let away: 'no' | 'failing' | 'endless' = 'no';
  await connected({
    instead(asked, _req, res) {
      if (asked !== '/token' || away === 'no') return false;
      if (away === 'failing') res.writeHead(503).end('{"error":"temporarily_unavailable"}');
      else {
        const timer = setInterval(() => res.write(' '), 5);
        res.on('close', () => clearInterval(timer));
      }
      return true;
    },
  });
  here.oauth.expire();
  const refused = { status: 401, text: 'no access' };
  const patient = await door({});
  assert.deepEqual(await patient(), refused, 'the access is younger than half a minute');
  assert.equal(here.oauth.seen.refreshes, 0);

  const call = await door({ ...oauthBounds, renewMs: 1_000, requestMs: 1_000 });
  const again = () => sql(`update connection_oauth set retry_at = now() where agent_id = $agent`);
  for (const way of ['failing', 'endless'] as const) {
    away = way;
    await again();
    const began = performance.now();
    assert.deepEqual(await call(), refused);
    assert.ok(performance.now() - began < 8_000);
    assert.equal((await record()).oauth.status, 'failed');
  }
  await due();
  await again();
  assert.deepEqual(codeOf(await call()), [502, 'access_not_renewed']);
  away = 'no';
  await again();
  assert.deepEqual(await call(), fine);
  assert.equal((await record()).oauth.status, 'connected');
});

test('an answer that holds the access is refused, also the one before', async () => {
  await connected();
  const call = await door();
  await due();
  assert.deepEqual(await call(), fine);
  const access = here.oauth.seen.issued.filter((each) => each.startsWith('access'));
  assert.equal(access.length, 2);
  for (const each of access) {
    const answer = await call({ headers: { 'x-say': Buffer.from(each).toString('hex') } });
    assert.deepEqual(codeOf(answer), [502, 'credential_echoed'], answer.text);
  }
});

test('an answer of another authorization server, and one for a connection that was changed meanwhile, give nothing', async () => {
  await start();
  await put();
  const other = await back(`${await visit((await begin()).body.authorization_url)}&iss=https://evil.example.com`);
  assert.match(other.text, /another authorization server/);
  const to = await visit((await begin()).body.authorization_url);
  await put({ auth: { ...auth(), token_url: `${here.oauth.origin}/elsewhere` } });
  assert.match((await back(to)).text, /was changed/);
  assert.equal(here.oauth.seen.exchanges, 0);
  await put();
  const issuer = encodeURIComponent(`${here.oauth.origin}/issuer`);
  const page = await back(`${await visit((await begin()).body.authorization_url)}&iss=${issuer}`);
  assert.equal(page.status, 200, page.text);
});

test('no token and no secret is in a reply, a page, a log, an event or the database in the clear', () =>
  stand.checkNothingLeaked());
