/** The official client's sign-in by OAuth, and a person who decides about it in the account area. */
import assert from 'node:assert/strict';
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import type { Person } from '../../e2e/people.ts';
import { McpClient } from './stand.ts';

const redirectUrl = 'http://127.0.0.1:6789/callback';

/** Keeps in memory what a client keeps in its files. */
export class Keeper implements OAuthClientProvider {
  readonly redirectUrl = redirectUrl;
  readonly clientMetadata = { client_name: 'A test', redirect_uris: [redirectUrl], token_endpoint_auth_method: 'none' };
  asked: URL | null = null;
  #client: OAuthClientInformationMixed | undefined;
  #tokens: OAuthTokens | undefined;
  #verifier = '';

  clientInformation(): OAuthClientInformationMixed | undefined {
    return this.#client;
  }
  saveClientInformation(client: OAuthClientInformationMixed): void {
    this.#client = client;
  }
  tokens(): OAuthTokens | undefined {
    return this.#tokens;
  }
  saveTokens(tokens: OAuthTokens): void {
    this.#tokens = tokens;
  }
  redirectToAuthorization(url: URL): void {
    this.asked = url;
  }
  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }
  codeVerifier(): string {
    return this.#verifier;
  }
  /** Its access has ended. */
  expire(): void {
    this.#tokens = { ...this.#tokens!, access_token: 'none' };
  }
}

/** Signs a client in: it registers itself, and the person gives it these scopes. */
export async function signedIn(
  url: URL,
  person: Person,
  scopes: readonly string[],
  keeper: Keeper,
): Promise<McpClient> {
  const first = new StreamableHTTPClientTransport(url, { authProvider: keeper });
  await assert.rejects(new McpClient().client.connect(first), UnauthorizedError);
  assert.equal(keeper.asked?.pathname, '/account/authorize');
  const asked = Object.fromEntries(keeper.asked.searchParams);
  const { body, status } = await person.call('POST', '/account/authorization/decision', {
    ...asked,
    approve: true,
    scopes,
  });
  assert.equal(status, 200, JSON.stringify(body));
  await first.finishAuth(new URL(body.redirect_to as string).searchParams.get('code')!);
  const mcp = new McpClient();
  await mcp.client.connect(new StreamableHTTPClientTransport(url, { authProvider: keeper }));
  return mcp;
}
