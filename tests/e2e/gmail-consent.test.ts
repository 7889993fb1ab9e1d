/** The consent for a mailbox over HTTP: a state is good once, and what Google gave is kept sealed. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import { ChannelFailure } from '@lodge/ports';
import type { GmailConsent } from '@lodge/ports';
import { ConsentBrowser } from '@lodge/testkit/consent-browser';
import { openWorld, send } from './api/world.ts';
import type { World } from './api/world.ts';
import { Client } from './contract/states.ts';
import { ownerOf } from './people.ts';

const redirectUri = (): string => `${world.origin}/oauth/gmail/callback`;
/** Google, as far as the port shows it: a code is worth a token to who knows the verifier of its challenge. */
const google: GmailConsent = {
  scopes: ['mail'],
  authorizationUrl: (ask) =>
    `https://google.example/consent?${new URLSearchParams({ ...ask, loginHint: ask.loginHint ?? '' }).toString()}`,
  async exchange({ code, verifier, redirectUri: redirect }) {
    const [mailbox, challenge] = code.split(' ');
    const isRight = createHash('sha256').update(verifier).digest('base64url') === challenge;
    if (!isRight || redirect !== redirectUri())
      throw new ChannelFailure({ code: 'consent_needed', message: 'The sign-in with Google was used before.' });
    return { refreshToken: `very-secret-${mailbox}`, email: mailbox!, scopes: ['mail'] };
  },
};

let world: World;
let client: Client;
let agentId: string;
before(async () => {
  world = await openWorld({ gmail: google });
  client = new Client(world);
});
after(() => world?.close());
beforeEach(async () => {
  agentId = await client.agent('running');
});

const start = (body?: object, id = agentId) => client.call('POST', `/agents/${id}/channels/gmail/oauth/start`, body);
const browser = new ConsentBrowser();
/** The request to Google once the page's person has agreed. */
const asked = async (url: string) =>
  Object.fromEntries(new URL(await browser.agree(url)).searchParams) as Record<string, string>;
const back = (query: Record<string, string>, by = browser) =>
  by.ask(`${world.url}/oauth/gmail/callback?${new URLSearchParams(query).toString()}`);

test('a consent connects the channel, once, and its page leads on', async () => {
  const begun = await start({ redirect_url: 'https://app.example/"><script>', login_hint: 'bot@example.com' });
  assert.equal(begun.status, 400, 'a quotation mark is no part of a URL');
  const { status, body, text } = await start({
    redirect_url: 'https://app.example/a?b=c&d',
    login_hint: 'bot@example.com',
  });
  assert.equal(status, 200, text);
  assert.deepEqual([body.object, body.channel, body.status], ['oauth_session', 'gmail', 'pending']);
  const minutes = (Date.parse(body.expires_at) - Date.now()) / 60_000;
  assert.ok(minutes > 9 && minutes <= 10.1);
  const { state, challenge, redirectUri: redirect, loginHint } = await asked(body.authorization_url);
  assert.deepEqual([state, redirect, loginHint], [body.state, redirectUri(), 'bot@example.com']);

  const page = await back({ state: state!, code: `bot@example.com ${challenge}` });
  assert.equal(page.status, 200, page.text);
  assert.match(page.headers.get('content-type')!, /^text\/html/);
  assert.match(page.text, /bot@example\.com.*href="https:\/\/app\.example\/a\?b=c&amp;d"/);
  const channel = (await client.call('GET', `/agents/${agentId}/channels/email`)).body;
  assert.deepEqual([channel.channel, channel.enabled, channel.status], ['gmail', true, 'connecting']);
  assert.deepEqual(channel.credentials, {}, 'nobody gave the token by hand');

  const again = await back({ state: state!, code: `bot@example.com ${challenge}` });
  assert.equal(again.status, 400);
  assert.match(again.text, /used before/);
  const { rows } = await world.sql.query<{ sealed: string }>(
    'select sealed from channel_credentials where agent_id = $1',
    [agentId],
  );
  assert.equal(rows.length, 1);
  assert.ok(!rows[0]!.sealed.includes('very-secret'));
});

test('the page names agent, owner and what is given, to whom is signed in or not, and cannot be framed or scripted', async () => {
  const person = await ownerOf(world);
  const { body } = await start({ login_hint: 'bot@example.com' });
  const page = await new ConsentBrowser().ask(body.authorization_url);
  for (const said of [
    'running',
    agentId,
    'Ada (owner@example.com)',
    'all mail of bot@example.com',
    'https://google.example',
  ])
    assert.ok(page.text.includes(said), said);
  assert.match(page.text, /You need no account here.*not yours/);
  assert.doesNotMatch(page.text, /<script|onclick|style=/);
  const policy = page.headers.get('content-security-policy')!;
  assert.match(policy, /script-src 'self'.*frame-ancestors 'none'/);
  assert.equal(page.headers.get('referrer-policy'), 'same-origin');
  assert.match(
    page.headers.get('set-cookie')!,
    /^lodge_consent_[0-9a-f]{16}=[\w-]{43}; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/,
  );
  const path = new URL(body.authorization_url).pathname;
  const own = await send(world.url, 'GET', path, { headers: { cookie: person.cookie } });
  assert.match(own.text, /signed in here as Ada \(owner@example\.com\)\. The agent is yours/);
  const hostile = await client.agent('running', { name: '<img src=x onerror=alert(1)>' });
  const escaped = await new ConsentBrowser().ask((await start({}, hostile)).body.authorization_url);
  assert.ok(escaped.text.includes('&lt;img src=x') && !escaped.text.includes('<img'));
});

test('a consent belongs to the browser that began it', async () => {
  const url = (await start()).body.authorization_url as string;
  const [victim, sender] = [new ConsentBrowser(), new ConsentBrowser()];
  // A person who passes the provider's own address on has agreed in their own browser.
  const { state, challenge } = Object.fromEntries(new URL(await sender.agree(url)).searchParams);
  const query = { state: state!, code: `victim@example.com ${challenge}` };
  for (const by of [victim, new ConsentBrowser()]) {
    const page = await back(query, by);
    assert.deepEqual([page.status, /another browser/.test(page.text)], [400, true]);
  }
  assert.equal((await victim.ask(url)).status, 400, 'the page is the first browser’s');
  assert.equal((await client.call('GET', `/agents/${agentId}/channels/gmail`)).body.status, 'not_configured');
  assert.equal((await back(query, sender)).status, 200, 'a wrong browser took nothing away');
  assert.equal(sender.cookies.size, 0);
});

test('only the page’s own form agrees; refusing ends the consent', async () => {
  const url = (await start()).body.authorization_url as string;
  const own = new ConsentBrowser();
  const csrf = await own.open(url);
  const agree = { csrf, answer: 'agree' };
  for (const reply of [
    await own.submit(url, agree, { 'sec-fetch-site': 'cross-site' }),
    await own.submit(url, agree, { 'sec-fetch-site': 'same-site' }),
    await own.submit(url, agree, { 'sec-fetch-site': 'cross-site', origin: world.origin }),
    await own.submit(url, { answer: 'agree' }),
    await own.submit(url, { csrf: `${csrf.slice(0, -2)}xx`, answer: 'agree' }),
    await own.submit(url, { csrf: 'é'.repeat(csrf.length), answer: 'agree' }),
    await new ConsentBrowser().submit(url, agree),
    await own.submit(url, { csrf, answer: 'x'.repeat(2_000) }),
  ]) {
    assert.ok(reply.status >= 400 && reply.status < 500 && !reply.headers.has('location'), String(reply.status));
  }
  assert.equal(await own.agree(url), await own.agree(url), 'a reply that was lost is given again');
  assert.match((await own.submit(url, { csrf, answer: 'refuse' })).text, /Refused/);
  assert.equal((await own.ask(url)).status, 400);
  const made = await own.ask(`${world.origin}/oauth/consent/${'x'.repeat(43)}`);
  assert.match(made.text, /used before/);
});

test('with a login_hint no other mailbox is taken', async () => {
  for (const [hint, mailbox, status] of [
    ['Hint@Example.com', 'hint@example.com', 200],
    ['a.bot@googlemail.com', 'abot@gmail.com', 200],
    ['a.bot@example.com', 'abot@example.com', 400],
    ['bot@example.com', 'colleague@example.com', 400],
  ] as const) {
    const id = await client.agent('running');
    const { state, challenge } = await asked((await start({ login_hint: hint }, id)).body.authorization_url);
    const page = await back({ state: state!, code: `${mailbox} ${challenge}` });
    assert.equal(page.status, status, page.text);
    await client.call('DELETE', `/agents/${id}`);
  }
});

test('a mailbox is one agent’s', async () => {
  const other = await client.agent('running');
  for (const [id, wanted] of [
    [agentId, 200],
    [other, 400],
  ] as const) {
    const { state, challenge } = await asked((await start(undefined, id)).body.authorization_url);
    const page = await back({ state: state!, code: `shared@example.com ${challenge}` });
    assert.equal(page.status, wanted, page.text);
  }
});

test('a state that is not ours, a wrong code and a consent that was not given connect nothing, and show no input', async () => {
  const { state } = await asked((await start()).body.authorization_url);
  const wrong = await back({ state: state!, code: '<script>alert(1)</script> x' });
  assert.equal(wrong.status, 400);
  assert.ok(!wrong.text.includes('<script>'));
  const { state: second } = await asked((await start()).body.authorization_url);
  assert.match((await back({ state: second!, error: 'access_denied' })).text, /not given/);
  assert.equal((await back({ state: 'x'.repeat(43), code: 'x' })).status, 400);
  assert.equal((await back({ code: 'x' })).status, 400);
  assert.equal((await client.call('GET', `/agents/${agentId}/channels/gmail`)).body.status, 'not_configured');
});
