/** A person lets a connection use its server. The authorization server's tokens are sealed and never shown. */
import { Refusal, isIssuerOf, isScope, renewalIn } from '@lodge/domain';
import type { OAuthEndpoints } from '@lodge/domain';
import { ConsentFailure, connectionClientSecretContext, connectionGrantContext } from '@lodge/ports';
import type {
  BegunConsent,
  ConnectionConsent,
  ConnectionRow,
  ConsentClient,
  Grant,
  GrantedTokens,
  SecretBox,
} from '@lodge/ports';
import { findConnection, insertGrant } from '@lodge/store/connections';
import type { Database } from '@lodge/store/database';
import { appendEvent } from '@lodge/store/events';
import type { Agents } from '../agents/agents.ts';
import { keepConsent, newConsent, takeConsent } from '../consents/sessions.ts';
import type { ConsentBack, ConsentSessions, OAuthStart } from '../consents/sessions.ts';
import { scopeRule } from './auth.ts';

export interface ConnectionConsentAsk {
  readonly redirectUri: string;
  readonly returnUrl: string | null;
  /** Scope of this consent; null: the connection's own. */
  readonly scope: string | null;
}

export interface ConnectionConsentEnd {
  readonly agentId: string;
  readonly connection: string;
  /** The page that the person goes to next; null: none. */
  readonly returnUrl: string | null;
}

export interface ConsentDeps extends ConsentSessions {
  readonly database: Database;
  readonly agents: Pick<Agents, 'get'>;
  readonly consent: ConnectionConsent;
}

/** State that is kept, sealed, until the browser comes back. */
interface Pending extends Omit<BegunConsent, 'authorizationUrl'> {
  readonly connection: string;
  readonly url: string;
  readonly hosts: readonly string[];
  readonly clientId: string | null;
  readonly endpoints: OAuthEndpoints | null;
}

export async function startConsent(
  deps: ConsentDeps,
  row: ConnectionRow,
  { redirectUri, returnUrl, scope }: ConnectionConsentAsk,
  signal: AbortSignal,
): Promise<OAuthStart> {
  const { accountId, agentId, name: connection, url, hosts, oauth } = row;
  if (oauth === null) {
    const message = `The connection has no OAuth: put it with auth {"kind": "oauth"} first.`;
    throw new Refusal('oauth_not_configured', message);
  }
  if (scope !== null && !isScope(scope)) throw new Refusal('invalid_request', `scope ${scopeRule}`);
  const { id, state } = newConsent();
  const client = clientOf(deps.secrets, row);
  const { clientIssuer: issuer, endpoints } = oauth;
  const wish = { url, client, endpoints, issuer, scope: scope ?? oauth.scope, redirectUri, state };
  const { authorizationUrl, ...begun } = await deps.consent.begin(wish, signal).catch((error: unknown) => {
    if (error instanceof ConsentFailure) throw new Refusal('oauth_not_possible', error.message);
    throw error;
  });
  const pending: Pending = { ...begun, connection, url, hosts, clientId: oauth.clientId, endpoints };
  const session = { id, accountId, agentId, connection, redirectUri, returnUrl };
  const server = hosts.length === 0 ? new URL(url).origin : hosts.map((host) => `https://${host}`).join(', ');
  const gift = { kind: 'connection', name: connection, server, scope: wish.scope } as const;
  return keepConsent(deps, session, { state, secret: JSON.stringify(pending), authorizationUrl, gift });
}

export async function finishConsent(
  deps: ConsentDeps,
  back: ConsentBack,
  signal: AbortSignal,
): Promise<ConnectionConsentEnd> {
  const { session, secret } = await takeConsent(deps, back, 'connection');
  const { code, issuer } = back;
  const { accountId, agentId, returnUrl, redirectUri } = session;
  // One that an earlier release began has no hosts.
  const pending = { hosts: [], ...JSON.parse(secret) } as Pending;
  if (isOther(pending, issuer) || pending.connection !== session.connection) {
    throw new Refusal('invalid_request', 'The answer came from another authorization server than was asked.');
  }
  if (code === null) throw new Refusal('invalid_request', 'The consent was not given.');
  await deps.agents.get(accountId, agentId);
  const place = { accountId, agentId, name: pending.connection };
  const row = await deps.database.repeatable((db) => findConnection(db, place));
  if (row === undefined) throw noConnection();
  if (row.oauth === null || !isSame({ ...row.oauth, url: row.url, hosts: row.hosts }, pending)) throw changed();
  const { terms, verifier } = pending;
  const answer = { terms, client: clientOf(deps.secrets, row), code, verifier, redirectUri };
  const tokens = await deps.consent.exchange(answer, signal).catch((error: unknown) => {
    if (error instanceof ConsentFailure) throw new Refusal('invalid_request', error.message);
    throw error;
  });
  await keepGrant(deps, pending, row, tokens);
  return { agentId, connection: pending.connection, returnUrl };
}

/** Whether an answer came from another authorization server than was asked; `issuer` is what it says. */
function isOther({ endpoints, issuerIsSaid, terms }: Pending, issuer: string | null): boolean {
  if (issuer === null) return issuerIsSaid;
  return endpoints == null ? issuer !== terms.issuer : !isIssuerOf(issuer, endpoints.authorizationUrl);
}

type Asked = Pick<Pending, 'url' | 'hosts' | 'clientId' | 'endpoints'>;

const isSame = (one: Asked, other: Asked): boolean =>
  one.url === other.url &&
  one.hosts.join(' ') === other.hosts.join(' ') &&
  one.clientId === other.clientId &&
  one.endpoints?.authorizationUrl === other.endpoints?.authorizationUrl &&
  one.endpoints?.tokenUrl === other.endpoints?.tokenUrl &&
  one.endpoints?.clientAuth === other.endpoints?.clientAuth;

function keepGrant(
  { secrets, database }: ConsentDeps,
  { terms, url, hosts, scope, clientId, endpoints }: Pending,
  { accountId, agentId, name: connection }: ConnectionRow,
  tokens: GrantedTokens,
): Promise<void> {
  const { accessToken, refreshToken, expiresInMs } = tokens;
  const grant: Grant = { accessToken, refreshToken, terms, url, before: null };
  const to = { agentId, connection, url, hosts, clientId, endpoints, issuer: terms.issuer };
  const made = {
    sealed: secrets.seal(JSON.stringify(grant), connectionGrantContext(agentId, connection)),
    scope: tokens.scope ?? scope,
    expiresInMs,
    renewInMs: renewalIn(tokens),
  };
  return database.transaction(async (trx) => {
    if (!(await insertGrant(trx, to, made))) throw changed();
    const event = { type: 'connection.connected', data: { connection } } as const;
    await appendEvent(trx, { ...event, accountId, agentId, by: null });
  });
}

function clientOf(secrets: SecretBox, { agentId, name, oauth }: ConnectionRow): ConsentClient | null {
  if (oauth?.clientId == null) return null;
  const { clientId: id, clientSecret } = oauth;
  const secret = clientSecret && secrets.open(clientSecret.sealed, connectionClientSecretContext(agentId, name));
  return { id, secret };
}

const changed = (): Refusal =>
  new Refusal('invalid_request', 'The connection was changed while the consent was under way.');

export const noConnection = (): Refusal => new Refusal('connection_not_found', 'The agent has no such connection.');
