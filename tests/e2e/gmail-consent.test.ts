/** The consent for a mailbox over HTTP: a state is good once, and what Google gave is kept sealed. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import { ChannelFailure } from '@lodge/ports';
import type { GmailConsent } from '@lodge/ports';
import { openWorld } from './api/world.ts';
import type { World } from './api/world.ts';
import { Client } from './contract/states.ts';

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
  world = await openWorld({ channels: { gmail: google } });
  client = new Client(world);
});
after(() => world?.close());
beforeEach(async () => {
  agentId = await client.agent('running');
});

const start = (body?: object, id = agentId) => client.call('POST', `/agents/${id}/channels/gmail/oauth/start`, body);
const asked = (url: string) => Object.fromEntries(new URL(url).searchParams) as Record<string, string>;
const back = async (query: Record<string, string>) => {
  const reply = await fetch(`${world.url}/oauth/gmail/callback?${new URLSearchParams(query).toString()}`);
  return { status: reply.status, text: await reply.text(), headers: reply.headers };
};

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
  const { state, challenge, redirectUri: redirect, loginHint } = asked(body.authorization_url);
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

test('a mailbox is one agent’s', async () => {
  const other = await client.agent('running');
  for (const [id, wanted] of [
    [agentId, 200],
    [other, 400],
  ] as const) {
    const { state, challenge } = asked((await start(undefined, id)).body.authorization_url);
    const page = await back({ state: state!, code: `shared@example.com ${challenge}` });
    assert.equal(page.status, wanted, page.text);
  }
});

test('a state that is not ours, a wrong code and a consent that was not given connect nothing, and show no input', async () => {
  const { state } = asked((await start()).body.authorization_url);
  const wrong = await back({ state: state!, code: '<script>alert(1)</script> x' });
  assert.equal(wrong.status, 400);
  assert.ok(!wrong.text.includes('<script>'));
  const { state: second } = asked((await start()).body.authorization_url);
  assert.match((await back({ state: second!, error: 'access_denied' })).text, /not given/);
  assert.equal((await back({ state: 'x'.repeat(43), code: 'x' })).status, 400);
  assert.equal((await back({ code: 'x' })).status, 400);
  assert.equal((await client.call('GET', `/agents/${agentId}/channels/gmail`)).body.status, 'not_configured');
});
