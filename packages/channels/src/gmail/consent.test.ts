import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { gmailScope, startGoogleStub } from '@lodge/testkit/google';
import type { GoogleStub } from '@lodge/testkit/google';
import type { GmailConsent } from '@lodge/ports';
import { createGmailConsent } from './consent.ts';

const redirectUri = 'http://127.0.0.1:8080/oauth/gmail/callback';

describe('the consent of a person', () => {
  let google: GoogleStub;
  let consent: GmailConsent;
  const signal = AbortSignal.timeout(60_000);

  before(async () => {
    google = await startGoogleStub();
    google.mailbox('Ann@Example.com');
    const { clientId, clientSecret } = google.client;
    const endpoints = {
      api: `${google.url}/`,
      consent: `${google.url}/o/oauth2/v2/auth`,
      token: `${google.url}/token`,
    };
    consent = createGmailConsent({ clientId, clientSecret, endpoints, timings: { callMs: 2_000 } });
  });
  after(() => google.close());

  /** Goes to the consent screen and comes back. */
  async function agrees(): Promise<{ code: string; verifier: string; redirectUri: string; state: string | null }> {
    const verifier = randomBytes(48).toString('base64url');
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const url = consent.authorizationUrl({ redirectUri, state: 's-1', challenge, loginHint: 'ann@example.com' });
    const { headers } = await fetch(url, { redirect: 'manual' });
    const back = new URL(headers.get('location')!);
    assert.ok(back.href.startsWith(redirectUri));
    return { code: back.searchParams.get('code')!, verifier, redirectUri, state: back.searchParams.get('state') };
  }

  test('asks for lasting access to the mailbox alone, bound to the session', async () => {
    const url = new URL(consent.authorizationUrl({ redirectUri, state: 's', challenge: 'c', loginHint: null }));
    assert.deepEqual(Object.fromEntries(url.searchParams), {
      client_id: google.client.clientId,
      redirect_uri: redirectUri,
      response_type: 'code',
      scope: gmailScope,
      state: 's',
      code_challenge: 'c',
      code_challenge_method: 'S256',
      access_type: 'offline',
      prompt: 'consent',
    });
  });

  test('gives a refresh token and says of which mailbox, at the second time too', async () => {
    for (let time = 0; time < 2; time += 1) {
      const given = await agrees();
      assert.equal(given.state, 's-1');
      const grant = await consent.exchange(given, signal);
      assert.equal(grant.email, 'ann@example.com');
      assert.deepEqual(grant.scopes, [gmailScope]);
      assert.ok(google.oauth.refreshTokensOf('ann@example.com').includes(grant.refreshToken));
    }
  });

  test('with a code that was used, is made up, or is of another session gives nothing', async () => {
    const given = await agrees();
    const refused = { name: 'ChannelFailure', reason: { code: 'consent_needed' } };
    const isRefused = (error: { name: string; reason: { code: string } }): boolean =>
      error.name === refused.name && error.reason.code === refused.reason.code;
    await assert.rejects(consent.exchange({ ...given, verifier: 'x'.repeat(43) }, signal), isRefused);
    await assert.rejects(consent.exchange(given, signal), isRefused);
    await assert.rejects(consent.exchange({ ...given, code: '4/0made-up' }, signal), isRefused);
  });

  test('with a box left unticked is refused by name', async (t) => {
    google.oauth.unticked = [gmailScope];
    t.after(() => {
      google.oauth.unticked = [];
    });
    await assert.rejects(consent.exchange(await agrees(), signal), /every box ticked/);
  });

  test('fails as such when Google is away, and nothing secret is in the error', async () => {
    const given = await agrees();
    google.fault({ of: 'POST token', does: 503, times: 20 });
    await assert.rejects(consent.exchange(given, signal), (error: Error & { reason: { code: string } }) => {
      assert.equal(error.reason.code, 'platform_unreachable');
      const shown = JSON.stringify(error, Object.getOwnPropertyNames(error));
      for (const secret of [given.code, given.verifier, google.client.clientSecret]) assert.ok(!shown.includes(secret));
      return true;
    });
    google.clearFaults();
  });

  test('for a client that Google does not know is the operator’s to mend', async () => {
    const other = createGmailConsent({
      clientId: google.client.clientId,
      clientSecret: 'wrong',
      endpoints: { api: `${google.url}/`, token: `${google.url}/token` },
    });
    await assert.rejects(other.exchange(await agrees(), signal), /operator must check the client ID/);
  });
});
