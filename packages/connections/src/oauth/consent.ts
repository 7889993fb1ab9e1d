import { registerClient, startAuthorization } from '@modelcontextprotocol/sdk/client/auth.js';
import type { AuthorizationServerMetadata } from '@modelcontextprotocol/sdk/shared/auth.js';
import { isOpaque, oauthBounds } from '@lodge/domain';
import type { OAuthEndpoints } from '@lodge/domain';
import { ConsentFailure } from '@lodge/ports';
import type { BegunConsent, ConnectionConsent, ConsentTerms, ConsentWish } from '@lodge/ports';
import { discover } from './discover.ts';
import type { Discovered } from './discover.ts';
import { checkedUrl, notAsSpecified, oauthFetch, spoken } from './oauth-fetch.ts';
import type { OAuthWay } from './oauth-fetch.ts';
import { exchanged } from './tokens.ts';

/** `ConnectionConsent` with the client of the official SDK, on a guarded way. */
export function createConsent(way: OAuthWay): ConnectionConsent {
  const within = (ms: number, signal: AbortSignal): AbortSignal => AbortSignal.any([signal, AbortSignal.timeout(ms)]);
  return {
    begin: (wish, signal) => begin(way, wish, within(way.bounds.beginMs, signal)),
    exchange: (answer, signal) => exchanged(way, answer, within(way.bounds.exchangeMs, signal)),
  };
}

async function begin(way: OAuthWay, wish: ConsentWish, signal: AbortSignal): Promise<BegunConsent> {
  const { endpoints } = wish;
  const found = endpoints === null ? await discover(way, wish.url, signal) : named(way, endpoints, signal);
  const { metadata, resource, issuerIsSaid } = found;
  if (endpoints === null && wish.issuer !== null && metadata.issuer !== wish.issuer) {
    throw new ConsentFailure(
      'The server names another authorization server than the client is of. If that is right, give auth.client_secret again.',
    );
  }
  const scope = wish.scope ?? found.scope;
  const registered = wish.client === null ? await registration(found, wish, scope) : null;
  const { authorizationUrl, codeVerifier } = await spoken(() =>
    startAuthorization(metadata.issuer, {
      metadata,
      clientInformation: { client_id: (registered ?? wish.client)!.id },
      redirectUrl: wish.redirectUri,
      state: wish.state,
      ...(resource !== null && { resource }),
      ...(scope !== null && { scope }),
    }),
  );
  return {
    authorizationUrl: authorizationUrl.href,
    verifier: codeVerifier,
    scope,
    issuerIsSaid,
    terms: {
      issuer: metadata.issuer,
      tokenEndpoint: metadata.token_endpoint,
      authMethods: (metadata.token_endpoint_auth_methods_supported ?? []).filter((each) => known.includes(each)),
      resource,
      registered,
    },
  };
}

/**
 * The authorization server that the owner named. It gets no `resource`, which servers of services that speak no MCP refuse
 * or ignore.
 */
function named(
  way: OAuthWay,
  { authorizationUrl, tokenUrl, clientAuth }: OAuthEndpoints,
  signal: AbortSignal,
): Discovered {
  for (const endpoint of [authorizationUrl, tokenUrl]) checkedUrl(endpoint, way.privateAddresses);
  return {
    metadata: {
      issuer: new URL(authorizationUrl).origin,
      authorization_endpoint: authorizationUrl,
      token_endpoint: tokenUrl,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: clientAuth === null ? usual : [clientAuth],
    },
    resource: null,
    scope: null,
    issuerIsSaid: false,
    fetch: oauthFetch(way, signal),
  };
}

/** Authentication methods of a client, best first. PKCE protects a client without a secret. */
const known: readonly string[] = ['none', 'client_secret_basic', 'client_secret_post'];

/** The method of a server that names none (RFC 8414, section 2). */
const usual = ['client_secret_basic'];

async function registration(
  { metadata, fetch }: Discovered,
  { redirectUri }: ConsentWish,
  scope: string | null,
): Promise<NonNullable<ConsentTerms['registered']>> {
  if (metadata.registration_endpoint === undefined) {
    throw new ConsentFailure('The authorization server registers no clients: make one there, and give auth.client_id.');
  }
  const client = await spoken(() =>
    registerClient(metadata.issuer, {
      metadata,
      clientMetadata: {
        client_name: 'Lodge',
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: methodOf(metadata),
      },
      ...(scope !== null && { scope }),
      fetchFn: fetch,
    }),
  );
  const { client_id: id, client_secret: secret, token_endpoint_auth_method: given } = client;
  const isFine = isOpaque(id, oauthBounds.clientIdChars);
  if (!isFine || (secret !== undefined && !isOpaque(secret, oauthBounds.clientSecretChars))) throw notAsSpecified();
  const method = given !== undefined && known.includes(given) ? given : null;
  return { id, secret: secret ?? null, method };
}

function methodOf({ token_endpoint_auth_methods_supported: supported = usual }: AuthorizationServerMetadata): string {
  const method = known.find((each) => supported.includes(each));
  if (method === undefined) {
    throw new ConsentFailure('The authorization server knows clients in no way that Lodge has.');
  }
  return method;
}
