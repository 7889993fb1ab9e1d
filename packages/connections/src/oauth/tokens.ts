/** The two requests to a token endpoint (RFC 6749, sections 4.1.3 and 6), and the reading of their answers. */
import { exchangeAuthorization, refreshAuthorization } from '@modelcontextprotocol/sdk/client/auth.js';
import {
  InvalidClientError,
  InvalidGrantError,
  UnauthorizedClientError,
} from '@modelcontextprotocol/sdk/server/auth/errors.js';
import type { OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import { believedMs, isOpaque, isScope, oauthBounds } from '@lodge/domain';
import { ConsentFailure } from '@lodge/ports';
import type { ConsentAnswer, ConsentClient, ConsentTerms, GrantedTokens } from '@lodge/ports';
import { checkedUrl, notAsSpecified, oauthFetch } from './oauth-fetch.ts';
import type { OAuthWay } from './oauth-fetch.ts';

/** Exchanges a code for tokens. Rejects with a `ConsentFailure`. */
export const exchanged = (way: OAuthWay, answer: ConsentAnswer, signal: AbortSignal): Promise<GrantedTokens> =>
  taken(() =>
    exchangeAuthorization(answer.terms.issuer, {
      ...shared(way, answer.terms, answer.client, signal),
      authorizationCode: answer.code,
      codeVerifier: answer.verifier,
      redirectUri: answer.redirectUri,
    }),
  );

/** Refreshes tokens. Rejects with a `ConsentFailure`. */
export const refreshed = (
  way: OAuthWay,
  { terms, client, refreshToken }: Pick<ConsentAnswer, 'terms' | 'client'> & { readonly refreshToken: string },
  signal: AbortSignal,
): Promise<GrantedTokens> =>
  taken(() => refreshAuthorization(terms.issuer, { ...shared(way, terms, client, signal), refreshToken }));

function shared(way: OAuthWay, terms: ConsentTerms, owners: ConsentClient | null, signal: AbortSignal) {
  checkedUrl(terms.tokenEndpoint, way.privateAddresses);
  const client = terms.registered ?? owners;
  if (client === null) throw new ConsentFailure('The connection has no client any more.', true);
  const method = terms.registered?.method ?? null;
  return {
    metadata: {
      token_endpoint: terms.tokenEndpoint,
      token_endpoint_auth_methods_supported: [...terms.authMethods],
    } as never,
    clientInformation: {
      client_id: client.id,
      ...(client.secret !== null && { client_secret: client.secret }),
      ...(method !== null && { token_endpoint_auth_method: method }),
    },
    ...(terms.resource !== null && { resource: terms.resource }),
    fetchFn: plain(oauthFetch(way, signal)),
  };
}

/**
 * Words of servers that refuse with status 200 and words of their own, as GitHub and Slack do. An unknown word is no refusal,
 * because a grant that is given up wrongly costs a person another consent.
 */
const refusalWords: Readonly<Record<string, string>> = {
  invalid_grant: 'invalid_grant',
  bad_refresh_token: 'invalid_grant',
  bad_verification_code: 'invalid_grant',
  invalid_refresh_token: 'invalid_grant',
  token_revoked: 'invalid_grant',
  invalid_code: 'invalid_grant',
  invalid_client: 'invalid_client',
  incorrect_client_credentials: 'invalid_client',
  bad_client_secret: 'invalid_client',
  unauthorized_client: 'unauthorized_client',
};

/** Gives refusals that come with status 200 as RFC 6749 has them (section 5.2). */
const plain =
  (fetch: ReturnType<typeof oauthFetch>): ReturnType<typeof oauthFetch> =>
  async (input, init) => {
    const answer = await fetch(input, init);
    if (!answer.ok) return answer;
    const text = await answer.text();
    const word = refusalIn(text);
    return word === undefined
      ? new Response(text, { status: answer.status, headers: answer.headers })
      : Response.json({ error: word }, { status: 400 });
  };

function refusalIn(text: string): string | undefined {
  try {
    const said = (JSON.parse(text) as { readonly error?: unknown } | null)?.error;
    return typeof said === 'string' && Object.hasOwn(refusalWords, said) ? refusalWords[said] : undefined;
  } catch {
    return undefined;
  }
}

/** Errors that make another try useless. Any other may pass. */
const refusals: readonly (new (message: string) => Error)[] = [
  InvalidGrantError,
  InvalidClientError,
  UnauthorizedClientError,
];

async function taken(ask: () => Promise<OAuthTokens>): Promise<GrantedTokens> {
  let tokens: OAuthTokens;
  try {
    tokens = await ask();
  } catch (error) {
    if (error instanceof ConsentFailure) throw error;
    if (refusals.some((each) => error instanceof each)) {
      throw new ConsentFailure(
        'The authorization server refused: what was granted is used up, ended or taken back.',
        true,
      );
    }
    throw notAsSpecified();
  }
  const {
    access_token: accessToken,
    refresh_token: refreshToken,
    token_type: type,
    expires_in: seconds,
    scope,
  } = tokens;
  // Every answer of the server is searched for each token, and the search holds that many bytes.
  if (Math.max(accessToken.length, refreshToken?.length ?? 0) > oauthBounds.tokenChars) {
    throw new ConsentFailure(
      `The authorization server gives a token of more than ${oauthBounds.tokenChars} characters, which Lodge does not take.`,
    );
  }
  const isToken = (token: string): boolean => isOpaque(token, oauthBounds.tokenChars);
  if (type.toLowerCase() !== 'bearer' || !isToken(accessToken)) throw notAsSpecified();
  if (refreshToken !== undefined && !isToken(refreshToken)) throw notAsSpecified();
  return {
    accessToken,
    refreshToken: refreshToken ?? null,
    expiresInMs: seconds !== undefined && seconds >= 0 ? believedMs(seconds * 1_000) : null,
    scope: scope !== undefined && isScope(scope) ? scope : null,
  };
}
