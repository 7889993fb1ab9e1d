/**
 * Finds the authorization server of an MCP server: reads the server's protected resource metadata (RFC 9728), and the
 * metadata of the authorization server that it names (RFC 8414, or OpenID Connect Discovery). A server without the first is
 * its own authorization server, as in earlier versions of the protocol. Anything against the specifications is refused.
 */
import {
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
} from '@modelcontextprotocol/sdk/client/auth.js';
import type {
  AuthorizationServerMetadata,
  OAuthProtectedResourceMetadata,
} from '@modelcontextprotocol/sdk/shared/auth.js';
import { checkResourceAllowed } from '@modelcontextprotocol/sdk/shared/auth-utils.js';
import { LATEST_PROTOCOL_VERSION } from '@modelcontextprotocol/sdk/types.js';
import { isScope } from '@lodge/domain';
import { ConsentFailure } from '@lodge/ports';
import { challengeOf } from './challenge.ts';
import type { Challenge } from './challenge.ts';
import { checkedUrl, notAsSpecified, oauthFetch, sent, spoken } from './oauth-fetch.ts';
import type { OAuthWay } from './oauth-fetch.ts';

export interface Discovered {
  readonly metadata: AuthorizationServerMetadata;
  /** Null where the owner named the authorization server. */
  readonly resource: string | null;
  /** The scope that the server names, or null. */
  readonly scope: string | null;
  readonly issuerIsSaid: boolean;
  readonly fetch: ReturnType<typeof oauthFetch>;
}

/** Discovers the authorization server; `url` is the MCP server's. Rejects with a `ConsentFailure`. */
export async function discover(way: OAuthWay, url: string, signal: AbortSignal): Promise<Discovered> {
  const fetch = oauthFetch(way, signal);
  const challenge = await challengeAt(way, url, signal);
  const resource = await resourceOf(fetch, url, challenge.metadataUrl);
  const named = resource === null ? new URL('/', url).href : (resource.authorization_servers?.[0] ?? '');
  const issuer = checkedUrl(named, way.privateAddresses);
  const metadata = await spoken(() => discoverAuthorizationServerMetadata(issuer, { fetchFn: fetch }));
  if (metadata === undefined) {
    throw new ConsentFailure('The server has no authorization server that can be found: it may want no OAuth.');
  }
  check(way, metadata, named);
  const names = challenge.scope ?? resource?.scopes_supported?.join(' ') ?? null;
  return {
    metadata,
    resource: resource?.resource ?? url,
    scope: names !== null && isScope(names) ? withRefresh(names, metadata) : null,
    issuerIsSaid: (metadata as Record<string, unknown>)['authorization_response_iss_parameter_supported'] === true,
    fetch,
  };
}

/** Adds the scope without which some servers give no lasting access. */
function withRefresh(scope: string, { scopes_supported: supported }: AuthorizationServerMetadata): string {
  const lacks = supported?.includes('offline_access') && !scope.split(' ').includes('offline_access');
  return lacks ? `${scope} offline_access` : scope;
}

/** Returns the server's challenge to a caller without access. Only a refusal carries one. */
async function challengeAt(way: OAuthWay, url: string, signal: AbortSignal): Promise<Challenge> {
  checkedUrl(url, way.privateAddresses);
  const params = {
    protocolVersion: LATEST_PROTOCOL_VERSION,
    capabilities: {},
    clientInfo: { name: 'lodge', version: '1' },
  };
  const { statusCode, headers, body } = await sent(way, {
    method: 'POST',
    url,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'accept-encoding': 'identity',
    },
    body: Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params })),
    signal,
  });
  body.on('error', () => undefined).destroy();
  return statusCode === 401 ? challengeOf(headers) : { metadataUrl: null, scope: null, error: null };
}

async function resourceOf(
  fetch: ReturnType<typeof oauthFetch>,
  url: string,
  metadataUrl: URL | null,
): Promise<OAuthProtectedResourceMetadata | null> {
  let isThere = metadataUrl !== null;
  const watched: typeof fetch = async (input, init) => {
    const answer = await fetch(input, init);
    isThere ||= answer.ok;
    return answer;
  };
  try {
    const options = metadataUrl === null ? {} : { resourceMetadataUrl: metadataUrl };
    const found = await discoverOAuthProtectedResourceMetadata(url, options, watched);
    if (!checkResourceAllowed({ requestedResource: url, configuredResource: found.resource })) {
      throw new ConsentFailure('The server names another resource than itself: access to that is not asked for.');
    }
    checkedUrl(found.resource, true);
    return found;
  } catch (error) {
    if (error instanceof ConsentFailure) throw error;
    if (isThere) throw notAsSpecified();
    return null;
  }
}

/** Checks the metadata; `named` is the issuer as the resource named it. */
function check(way: OAuthWay, metadata: AuthorizationServerMetadata, named: string): void {
  if (!isSameIssuer(metadata.issuer, named)) {
    throw new ConsentFailure('The authorization server names another issuer than itself.');
  }
  if (!metadata.code_challenge_methods_supported?.includes('S256')) {
    throw new ConsentFailure('The authorization server does not say that it supports PKCE with S256.');
  }
  const { grant_types_supported: grants, response_types_supported: responses } = metadata;
  if (!responses.includes('code') || (grants !== undefined && !grants.includes('authorization_code'))) {
    throw new ConsentFailure('The authorization server does not give authorization codes.');
  }
  const { authorization_endpoint, token_endpoint, registration_endpoint } = metadata;
  for (const endpoint of [authorization_endpoint, token_endpoint, registration_endpoint]) {
    if (endpoint !== undefined) checkedUrl(endpoint, way.privateAddresses);
  }
}

/** Compares issuers without a slash at the end, which parsers of URLs add. */
const isSameIssuer = (one: string, other: string): boolean => withoutSlash(one) === withoutSlash(other);
const withoutSlash = (text: string): string => (text.endsWith('/') ? text.slice(0, -1) : text);
