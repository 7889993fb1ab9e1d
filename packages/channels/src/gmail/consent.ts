import { CodeChallengeMethod } from 'google-auth-library';
import type { Credentials } from 'google-auth-library';
import { ChannelFailure } from '@lodge/ports';
import type { GmailConsent, GmailGrant } from '@lodge/ports';
import { within } from '../shared/deadline.ts';
import { GmailApi, gmailClient } from './api/gmail-api.ts';
import { brokenFailure, GoogleFailure, missingScope, tokenFailure } from './api/google-failure.ts';
import { oauthClient } from './api/tokens.ts';
import { gmailScopes, googleEndpoints, usualTimings } from './options.ts';
import type { GmailOptions } from './options.ts';

const maxTokenChars = 4_096;

/** Google's consent screen and what comes back from it. */
export function createGmailConsent({ clientId, clientSecret, ...options }: GmailOptions): GmailConsent {
  const endpoints = { ...googleEndpoints, ...options.endpoints };
  const timings = { ...usualTimings, ...options.timings };
  const settings = { clientId, clientSecret, endpoints, callMs: timings.callMs };
  const api = gmailClient(endpoints.api);

  const mailboxOf = async (token: string, signal: AbortSignal): Promise<string> => {
    const tokens = { access: async () => token, forget: () => undefined };
    return (await new GmailApi(api, tokens, timings).profile(signal)).address;
  };

  return {
    scopes: gmailScopes,
    authorizationUrl: ({ redirectUri, state, challenge, loginHint }) =>
      oauthClient(settings).generateAuthUrl({
        redirect_uri: redirectUri,
        scope: [...gmailScopes],
        state,
        code_challenge: challenge,
        code_challenge_method: CodeChallengeMethod.S256,
        // A refresh token, at the second consent too.
        access_type: 'offline',
        prompt: 'consent',
        ...(loginHint !== null && { login_hint: loginHint }),
      }),
    async exchange({ code, verifier, redirectUri }, signal) {
      try {
        const request = { code, codeVerifier: verifier, redirect_uri: redirectUri };
        const { tokens } = await within(timings.callMs, signal, (own) =>
          oauthClient(settings, own).getToken(request),
        ).catch((error: unknown) => {
          throw codeFailure(error);
        });
        const { refreshToken, accessToken, scopes } = grantOf(tokens);
        return { refreshToken, scopes, email: await mailboxOf(accessToken, signal) } satisfies GmailGrant;
      } catch (error) {
        if (error instanceof GoogleFailure) throw new ChannelFailure(error.reason);
        throw error;
      }
    },
  };
}

function grantOf({ refresh_token: refreshToken, access_token: accessToken, scope }: Credentials) {
  const scopes = typeof scope === 'string' ? scope.slice(0, maxTokenChars).split(' ') : [];
  // A person can leave boxes unticked.
  if (!gmailScopes.every((each) => scopes.includes(each))) throw new ChannelFailure(missingScope);
  const isToken = (token: unknown): token is string =>
    typeof token === 'string' && token !== '' && token.length <= maxTokenChars;
  if (!isToken(refreshToken) || !isToken(accessToken)) {
    throw new ChannelFailure({
      code: 'consent_needed',
      message:
        'Google gave no lasting access to the mailbox. Remove this app from the Google account and connect again.',
    });
  }
  return { refreshToken, accessToken, scopes };
}

/** `invalid_grant` is the code here, not the consent. */
function codeFailure(error: unknown): Error {
  const failure = tokenFailure(error) ?? brokenFailure(error);
  if (failure.reason.code !== 'revoked') return failure;
  return new ChannelFailure({
    code: 'consent_needed',
    message: 'The sign-in with Google was not completed in time, or was used before. Connect Gmail again.',
  });
}
