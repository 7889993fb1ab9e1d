/* oxlint-disable no-restricted-imports -- only tests import this file */
/**
 * A real MCP server that requires OAuth, and its authorization server: both of the official SDK, at one origin. Every
 * visitor of its consent page consents. Refresh tokens are valid once, and it counts those that come twice. It may
 * misbehave.
 */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { InvalidGrantError, InvalidRequestError } from '@modelcontextprotocol/sdk/server/auth/errors.js';
import type { OAuthServerProvider } from '@modelcontextprotocol/sdk/server/auth/provider.js';
import { mcpAuthRouter } from '@modelcontextprotocol/sdk/server/auth/router.js';
import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js';
import type { OAuthClientInformationFull } from '@modelcontextprotocol/sdk/shared/auth.js';
import { startMcpServer } from './mcp-server.ts';
import type { McpTool } from './mcp-server.ts';

export interface OAuthServerOptions {
  readonly tools?: () => readonly McpTool[];
  /** Answers in place of the protocol when it returns true; `path` has no query. */
  readonly instead?: (path: string, req: IncomingMessage, res: ServerResponse) => boolean;
  /** Life of access tokens in seconds; undefined when it does not say. */
  readonly expiresIn?: number | undefined;
  /** Whether access comes without a refresh token. */
  readonly fleeting?: boolean;
  /** A client made by hand; no other one is registered then. */
  readonly client?: { readonly id: string; readonly secret?: string; readonly redirectUri: string };
  /** Whether access is for a service at `/api`, which repeats a request's header `x-say`: no resource is named then. */
  readonly service?: boolean;
  /** Whether a refusal says nothing about OAuth. */
  readonly quiet?: boolean;
}

interface Code {
  readonly challenge: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly resource: string | undefined;
  readonly scope: string;
}

export type OAuthServer = Awaited<ReturnType<typeof startOAuthServer>>;

const make = (what: string): string => `${what}-${randomBytes(24).toString('base64url')}`;

export async function startOAuthServer(options: OAuthServerOptions = {}) {
  const { expiresIn = 3_600 } = options;
  const clients = new Map<string, OAuthClientInformationFull>();
  const codes = new Map<string, Code>();
  const access = new Set<string>();
  const refresh = new Map<string, string>();
  const used = new Set<string>();
  const seen = { refreshes: 0, reused: 0, registrations: 0, exchanges: 0, calls: 0, issued: [] as string[] };
  /** Awaited by each refresh before its answer, after the change of tokens. */
  let gate: () => Promise<unknown> = () => Promise.resolve();

  const issued = (scope: string) => {
    const tokens = { access: make('access'), refresh: make('refresh') };
    access.add(tokens.access);
    refresh.set(tokens.refresh, scope);
    seen.issued.push(tokens.access, tokens.refresh);
    return {
      access_token: tokens.access,
      token_type: 'bearer',
      ...(options.expiresIn === undefined && 'expiresIn' in options ? {} : { expires_in: expiresIn }),
      ...(!options.fleeting && { refresh_token: tokens.refresh }),
      scope,
    };
  };
  const checkResource = (resource: URL | undefined): void => {
    if (resource?.href !== (options.service ? undefined : mcp.url))
      throw new InvalidRequestError('the resource is not this one');
  };
  const provider: OAuthServerProvider = {
    clientsStore: {
      getClient: (id) => clients.get(id),
      ...(options.client === undefined && {
        registerClient(client: Omit<OAuthClientInformationFull, 'client_id'>) {
          seen.registrations += 1;
          const known = client as OAuthClientInformationFull;
          clients.set(known.client_id, known);
          if (known.client_secret !== undefined) seen.issued.push(known.client_secret);
          return known;
        },
      }),
    },
    async authorize(client, { state, codeChallenge: challenge, redirectUri, resource, scopes }, res) {
      const code = make('code');
      const scope = scopes?.join(' ') ?? '';
      codes.set(code, { challenge, clientId: client.client_id, redirectUri, resource: resource?.href, scope });
      const to = new URL(redirectUri);
      to.searchParams.set('code', code);
      if (state !== undefined) to.searchParams.set('state', state);
      (res as unknown as { redirect(url: string): void }).redirect(to.href);
    },
    async challengeForAuthorizationCode(client, given) {
      const code = codes.get(given);
      if (code?.clientId !== client.client_id) throw new InvalidGrantError('no such code');
      return code.challenge;
    },
    async exchangeAuthorizationCode(_client, given, _verifier, redirectUri, resource) {
      const code = codes.get(given)!;
      codes.delete(given);
      if (code.redirectUri !== redirectUri) throw new InvalidGrantError('another redirect');
      checkResource(resource);
      if (code.resource !== resource?.href) throw new InvalidGrantError('another resource');
      seen.exchanges += 1;
      return issued(code.scope);
    },
    async exchangeRefreshToken(_client, token, _scopes, resource) {
      checkResource(resource);
      const scope = refresh.get(token);
      if (used.has(token)) seen.reused += 1;
      if (scope === undefined) throw new InvalidGrantError('no such refresh token');
      refresh.delete(token);
      used.add(token);
      seen.refreshes += 1;
      const tokens = issued(scope);
      await gate();
      return tokens;
    },
    async verifyAccessToken() {
      throw new Error('not asked');
    },
  };

  let app: ((req: IncomingMessage, res: ServerResponse) => void) | null = null;
  const takes = (authorization: string | undefined): boolean =>
    authorization !== undefined && access.has(authorization.replace(/^Bearer /, ''));
  const mcp = await startMcpServer({
    tools: options.tools ?? (() => []),
    token: takes,
    instead(req, res) {
      const path = new URL(req.url!, 'http://localhost').pathname;
      if (options.instead?.(path, req, res)) return true;
      if (options.service && path.startsWith('/api/')) {
        const isIn = takes(req.headers.authorization);
        seen.calls += 1;
        res.writeHead(isIn ? 200 : 401, { 'content-type': 'text/plain' });
        res.end(isIn ? `hello ${String(req.headers['x-say'] ?? '')}` : 'no access');
        return true;
      }
      if (path !== '/mcp') {
        app!(req, res);
        return true;
      }
      if (takes(req.headers.authorization)) return false;
      const metadata = `resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`;
      const header = options.quiet ? {} : { 'www-authenticate': `Bearer error="invalid_token", ${metadata}` };
      res.writeHead(401, header).end('no access');
      return true;
    },
  });
  const { origin } = new URL(mcp.url);
  const unlimited = { rateLimit: false } as const;
  const router = mcpAuthRouter({
    provider,
    issuerUrl: new URL(origin),
    resourceServerUrl: new URL(mcp.url),
    scopesSupported: ['tools:read', 'tools:call'],
    authorizationOptions: unlimited,
    tokenOptions: unlimited,
    clientRegistrationOptions: unlimited,
  });
  const express = createMcpExpressApp();
  express.use(router);
  app = express as unknown as typeof app;
  if (options.client) {
    const { id, secret, redirectUri } = options.client;
    clients.set(id, { client_id: id, ...(secret && { client_secret: secret }), redirect_uris: [redirectUri] });
  }

  return {
    ...mcp,
    origin,
    seen,
    /** Ends access; its refresh tokens stay valid. */
    expire: () => access.clear(),
    /** Revokes everything, as the person may. */
    revoke() {
      access.clear();
      refresh.clear();
    },
    hold(promise: () => Promise<unknown>) {
      gate = promise;
    },
    /** Sets the redirect URI of a client made by hand, which is known late. */
    setRedirect(redirectUri: string) {
      const { client } = options;
      if (client) clients.set(client.id, { ...clients.get(client.id)!, redirect_uris: [redirectUri] });
    },
  };
}
