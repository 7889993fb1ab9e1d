/** OAuth of connections over HTTP: a consent from its begin to its end, with a real MCP server and authorization server. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientSecret, fine, openStand, text } from './api/oauth-stand.ts';

const stand = openStand();
const { here, callback, path, sql, start, put, record, begin, browser, visit, back, consent, call, due } = stand;
const { eventsOf, linesOf, checkNothingLeaked } = stand;

test('a consent from its begin to its end: record, page, tools, event and log', async () => {
  await start();
  const { body } = await put({ auth: { kind: 'oauth', scope: 'tools:read' } });
  assert.deepEqual(body.auth, {
    kind: 'oauth',
    client_id: null,
    client_secret: null,
    scope: 'tools:read',
    authorization_url: null,
    token_url: null,
    client_auth: null,
  });
  assert.deepEqual(body.oauth, { status: 'needed', reason: null, scope: null, expires_at: null });
  const [isError, sentence] = await call();
  assert.equal(isError, true);
  assert.match(sentence, /owner must consent \(OAuth\)/);
  assert.deepEqual(await here.world.tools.tools(here.agentId, AbortSignal.timeout(5_000)), []);

  const { begun, page } = await consent({ redirect_url: 'https://app.example/a?b=c&d' });
  const { id, authorization_url: url, state, expires_at: expires, ...rest } = begun;
  assert.equal(typeof state, 'string');
  assert.deepEqual(rest, { object: 'oauth_session', connection: 'work', status: 'pending' });
  assert.ok(url.startsWith(`${here.world.origin}/oauth/consent/`), url);
  const query = Object.fromEntries(new URL(await browser.agree((await begin()).body.authorization_url)).searchParams);
  assert.deepEqual(
    [query.redirect_uri, query.code_challenge_method, query.resource, query.scope],
    [callback(), 'S256', here.oauth.url, 'tools:read'],
  );
  const minutes = (Date.parse(expires) - Date.now()) / 60_000;
  assert.ok(minutes > 9 && minutes <= 10.1 && typeof id === 'string');
  assert.match(page.headers.get('content-type')!, /^text\/html/);
  assert.match(page.headers.get('content-security-policy')!, /default-src 'self'/);
  assert.match(page.text, /can now use work.*href="https:\/\/app\.example\/a\?b=c&amp;d"/);

  const { oauth: now } = await record();
  assert.deepEqual([now.status, now.reason, now.scope], ['connected', null, 'tools:read']);
  const left = Date.parse(now.expires_at) - Date.now();
  assert.ok(left > 3_500_000 && left <= 3_600_000, String(left));
  assert.deepEqual(
    (await here.world.tools.tools(here.agentId, AbortSignal.timeout(5_000))).map(({ name }) => name),
    ['work__hello'],
  );
  assert.deepEqual(await call(), fine);
  assert.equal((await eventsOf('connection.connected')).length, 1);
  assert.ok((await linesOf()).includes('Connection work has the consent that it needs.'));
});

/** The state of a consent that the browser has agreed to. */
async function agreed(): Promise<string> {
  const { body } = await begin();
  await browser.agree(body.authorization_url);
  return body.state;
}

test('a state is good once, for its own kind, and only from the server that was asked', async () => {
  await start();
  await put();
  const { begun } = await consent();
  const again = await back(`${callback()}?state=${begun.state}&code=x`);
  assert.deepEqual([again.status, /used before/.test(again.text)], [400, true]);
  for (const [query, message] of [
    ['code=x', /state is missing/],
    [`state=${'x'.repeat(43)}&code=x`, /used before/],
    [`state=${'x'.repeat(300)}&code=x`, /state is missing/],
  ] as const) {
    const page = await back(`${callback()}?${query}`);
    assert.deepEqual([page.status, message.test(page.text)], [400, true], query);
  }
  const other = await agreed();
  const atGmail = await browser.ask(`${here.world.origin}/oauth/gmail/callback?state=${other}&code=x`);
  assert.equal(atGmail.status, 400);
  const mixed = await back(`${callback()}?state=${other}&code=x&iss=https://evil.example.com`);
  assert.match(mixed.text, /another authorization server/);
  assert.doesNotMatch(mixed.text, /evil/);
  const denied = await agreed();
  assert.match((await back(`${callback()}?state=${denied}&error=access_denied&code=x`)).text, /not given/);
  const guessed = await agreed();
  const page = await back(`${callback()}?state=${guessed}&code=%3Cscript%3E`);
  assert.match(page.text, /refused/);
  assert.doesNotMatch(page.text, /<script>/);
  assert.equal((await record()).oauth.status, 'connected', 'none of it took anything away');
  assert.equal(here.oauth.seen.exchanges, 1);
});

test('a server that says that it says who it is must say so with the code', async () => {
  await start({
    instead(asked, _req, res) {
      if (asked !== '/.well-known/oauth-authorization-server') return false;
      const { origin } = here.oauth;
      const metadata = {
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        registration_endpoint: `${origin}/register`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['none'],
        authorization_response_iss_parameter_supported: true,
      };
      res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(metadata));
      return true;
    },
  });
  await put();
  const page = await back(await visit((await begin()).body.authorization_url));
  assert.deepEqual([page.status, /another authorization server/.test(page.text)], [400, true]);
  const to = await visit((await begin()).body.authorization_url);
  assert.equal((await back(`${to}&iss=${encodeURIComponent(here.oauth.origin)}`)).status, 200);
  assert.deepEqual(await call(), fine);
});

test('a client that was made by hand says who it is with its secret, which is not told', async () => {
  await start({ client: { id: 'by-hand', secret: clientSecret, redirectUri: 'http://127.0.0.1/x' } });
  here.oauth.setRedirect(callback());
  const auth = { kind: 'oauth', client_id: 'by-hand', client_secret: clientSecret };
  const { body } = await put({ auth });
  const { fingerprint, ...shown } = body.auth.client_secret;
  assert.deepEqual(shown, { set: true, last4: '9f2c' });
  assert.match(fingerprint, /^[0-9a-f]{32}$/);
  await consent();
  await put({ auth: { kind: 'oauth', client_id: 'by-hand' }, tools: ['hello'] });
  assert.equal((await record()).oauth.status, 'connected', 'nothing that was granted for is another');
  await due();
  assert.deepEqual(await call(), fine);
  assert.deepEqual([here.oauth.seen.refreshes, here.oauth.seen.registrations], [1, 0]);
  await put({ auth: { ...auth, client_secret: 'another-secret-that-is-wrong' } });
  assert.equal((await record()).oauth.status, 'connected', 'a secret may be changed without another consent');
  await due();
  const [isError] = await call();
  assert.equal(isError, true);
  assert.match((await record()).oauth.reason, /refused/);
});

test('409: no OAuth, and a server that lets no consent begin', async () => {
  await start({ client: { id: 'x', redirectUri: 'http://127.0.0.1/x' } });
  await put({ auth: null });
  const none = await begin();
  assert.deepEqual([none.status, none.body.error.code], [409, 'oauth_not_configured']);
  await put();
  const closed = await begin();
  assert.deepEqual([closed.status, closed.body.error.code], [409, 'oauth_not_possible']);
  assert.match(closed.body.error.message, /auth\.client_id/);
  const bad = await begin({ scope: 'a"b' });
  assert.equal(bad.status, 400);
  assert.match(bad.body.error.message, /^scope/);
});

test('400: auth names its field, and goes with no header Authorization', async () => {
  await start();
  for (const [given, message] of [
    [{ auth: { kind: 'basic' } }, /^auth\.kind/],
    [{ auth: { kind: 'oauth', token: 'x' } }, /^auth\.token/],
    [{ auth: { kind: 'oauth', scope: 'a\nb' } }, /^auth\.scope/],
    [{ auth: { kind: 'oauth', client_secret: 'x' } }, /^auth\.client_secret/],
    [{ auth: { kind: 'oauth', client_id: 'a b' } }, /^auth\.client_id/],
    [{ headers: { authorization: 'Bearer x' } }, /^auth and a header Authorization/],
    [{ auth: { kind: 'oauth', token_url: 'https://as.example.com/token' } }, /^auth\.token_url/],
    [{ auth: { kind: 'oauth', authorization_url: 'https://as.example.com' } }, /^auth\.authorization_url/],
    [{ auth: { kind: 'oauth', client_auth: 'client_secret_post' } }, /^auth\.client_auth/],
  ] as const) {
    const answer = await put(given);
    assert.deepEqual([answer.status, answer.body.error?.code], [400, 'invalid_request'], JSON.stringify(given));
    assert.match(answer.body.error.message, message);
  }
  assert.equal((await here.client.call('GET', path())).status, 404);
  await put({ auth: null, headers: { Authorization: 'Bearer x' } });
  assert.match((await put()).body.error.message, /^auth and a header/, 'a stored header counts');
});

test('another URL, client or scope needs another consent; a secret does not go along', async () => {
  await start();
  await put();
  await consent();
  for (const given of [
    { url: `${here.oauth.origin}/other` },
    { auth: { kind: 'oauth', scope: 'tools:call' } },
    { auth: null },
  ]) {
    await put();
    await consent();
    assert.equal((await record()).oauth.status, 'connected');
    const { body } = await put(given);
    assert.notEqual(body.oauth?.status, 'connected', JSON.stringify(given));
    const { rows } = await sql('select grant_sealed from connection_oauth where agent_id = $agent');
    assert.ok(rows.every((row: { grant_sealed: unknown }) => row.grant_sealed === null));
  }
  await put({ auth: { kind: 'oauth', client_id: 'a', client_secret: clientSecret } });
  const moved = await put({ url: 'https://evil.example.com', auth: undefined });
  assert.match(moved.body.error.message, /^auth must be given again/);
  const { body } = await put({ url: 'https://evil.example.com', auth: { kind: 'oauth', client_id: 'a' } });
  assert.equal(body.auth.client_secret, null);
});

test('a connection that was changed while a consent was under way does not get it', async () => {
  await start();
  await put();
  const begun = (await begin()).body;
  const to = await visit(begun.authorization_url);
  await put({ auth: { kind: 'oauth', client_id: 'another' } });
  const page = await back(to);
  assert.deepEqual([page.status, /was changed/.test(page.text)], [400, true]);
  assert.equal((await record()).oauth.status, 'needed');
  assert.equal(here.oauth.seen.exchanges, 0);
});

test('a server that asks for OAuth shows it in the record of a connection that has none', async () => {
  await start();
  await put({ auth: undefined });
  assert.equal((await record()).oauth, null);
  const [isError, sentence] = await call();
  assert.equal(isError, true);
  assert.match(sentence, /asks for OAuth/);
  const { auth, oauth: asked } = await record();
  assert.deepEqual([auth, asked.status], [null, 'needed']);
  assert.match(asked.reason, /put the connection with auth/);
  await put();
  await consent();
  assert.deepEqual(await call(), fine, 'and the tools are there at once');
});

test('a server that tells its agent the access that it was given does not tell it, nor the one before', async () => {
  const access = () => here.oauth.seen.issued.filter((each) => each.startsWith('access'));
  let said = (): string => 'nothing';
  await start({ tools: () => [{ name: 'leak', answer: () => text(said()) }] });
  await put();
  await consent();
  await call('work__leak');
  await due();
  assert.deepEqual(await call('work__leak'), [false, 'nothing']);
  assert.equal(access().length, 2);
  for (const way of [
    () => access().at(-1)!,
    () => access()[0]!,
    () => Buffer.from(`a ${access().at(-1)!}`).toString('base64'),
  ]) {
    said = () => `it is ${way()}`;
    const [isError, sentence] = await call('work__leak');
    assert.equal(isError, true);
    assert.match(sentence, /^The server's answer held the credential of this connection/);
  }
  const { enabled, status_reason: reason } = await record();
  assert.equal(enabled, false);
  assert.match(reason!, /^Disabled: answers of the server held/);
});

test('no token and no secret is in a reply, a page, a log, an event or the database in the clear', checkNothingLeaked);
