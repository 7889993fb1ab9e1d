/** The owners' use-cases for the connections of their agents, in every state of the agent. */
import { Refusal, checkedTerms, connectionBounds, isConnectionName, isScope, mayBeSet } from '@lodge/domain';
import type { ConnectionAllow, ConnectionKind } from '@lodge/domain';
import { connectionClientSecretContext, connectionHeaderContext } from '@lodge/ports';
import type { ChangeNote, ConnectionChange, ConnectionRow, ConnectionStore, SecretBox } from '@lodge/ports';
import { notFound } from '../agents/reading.ts';
import type { ConsentBack, OAuthStart } from '../consents/sessions.ts';
import { finishConsent, scopeRule, startConsent, noConnection } from './consent.ts';
import type { ConnectionConsentAsk, ConnectionConsentEnd, ConnectionsDeps } from './deps.ts';

/** A connection as its owner puts it. */
export interface ConnectionInput {
  readonly name: string;
  readonly kind: ConnectionKind;
  readonly url: string;
  /** Values by name; undefined keeps the stored ones. */
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly allow: readonly ConnectionAllow[] | undefined;
  readonly tools: readonly string[] | null | undefined;
  readonly enabled: boolean;
  /** Null: none. Undefined keeps the stored one. */
  readonly auth: ConnectionAuthInput | null | undefined;
}

export interface ConnectionAuthInput {
  readonly clientId: string | null;
  /** Null: none. Undefined keeps the one that is stored for this client. */
  readonly clientSecret: string | null | undefined;
  readonly scope: string | null;
}

/**
 * Each refuses with `agent_not_found` where the account has no such agent, and with `connection_not_found` where the agent
 * has no such connection.
 */
export interface Connections {
  list(accountId: string, agentId: string): Promise<readonly ConnectionRow[]>;
  find(accountId: string, agentId: string, name: string): Promise<ConnectionRow>;
  /** Stores a connection. Refuses with `invalid_request` and the field, or with `quota_exceeded`. */
  put(accountId: string, agentId: string, input: ConnectionInput, note?: ChangeNote): Promise<ConnectionRow>;
  remove(accountId: string, agentId: string, name: string, note?: ChangeNote): Promise<void>;
  readonly oauth: {
    /** Begins a consent. Refuses with `oauth_not_configured` or `oauth_not_possible`. */
    start(
      place: { readonly accountId: string; readonly agentId: string; readonly name: string },
      ask: ConnectionConsentAsk,
      signal: AbortSignal,
    ): Promise<OAuthStart>;
    /** Ends a consent with what the browser brought back. Refuses with `link_not_valid` or `invalid_request`. */
    finish(back: ConsentBack, signal: AbortSignal): Promise<ConnectionConsentEnd>;
  };
}

export function createConnections(deps: ConnectionsDeps): Connections {
  const { agents, store } = deps;
  const find = async (accountId: string, agentId: string, name: string): Promise<ConnectionRow> => {
    await agents.get(accountId, agentId);
    const row = isConnectionName(name) ? await store.find(accountId, agentId, name) : null;
    if (row === null) throw noConnection();
    return row;
  };
  return {
    find,
    async list(accountId, agentId) {
      await agents.get(accountId, agentId);
      return store.ofAgent(accountId, agentId);
    },
    async put(accountId, agentId, input, note) {
      await agents.get(accountId, agentId);
      const change = checkedChange(deps, accountId, agentId, input);
      return stored(await store.put(change, connectionBounds.perAgent, note), agentId);
    },
    async remove(accountId, agentId, name, note) {
      await agents.get(accountId, agentId);
      const was = isConnectionName(name) && (await store.remove(accountId, agentId, name, note));
      if (!was) throw noConnection();
    },
    oauth: {
      start: async ({ accountId, agentId, name }, ask, signal) =>
        startConsent(deps, await find(accountId, agentId, name), ask, signal),
      finish: (back, signal) => finishConsent(deps, back, signal),
    },
  };
}

function checkedChange(
  { secrets, anyAddress }: ConnectionsDeps,
  accountId: string,
  agentId: string,
  input: ConnectionInput,
): ConnectionChange {
  const { name, enabled, headers, auth } = input;
  if (!isConnectionName(name)) {
    const rule = 'must be 1 to 32 lower case letters, digits and hyphens, a letter first and no hyphen last.';
    throw new Refusal('invalid_request', `name ${rule}`);
  }
  const terms = checkedTerms(input, anyAddress);
  if (auth != null && terms.kind === 'http') {
    throw new Refusal('invalid_request', 'auth is for kind mcp: with kind http, give headers.');
  }
  return {
    accountId,
    agentId,
    name,
    enabled,
    ...terms,
    headers: headers && sealedHeaders(secrets, agentId, name, headers),
    auth: auth && sealedAuth(secrets, agentId, name, auth),
  };
}

function sealedAuth(
  secrets: SecretBox,
  agentId: string,
  connection: string,
  { clientId, clientSecret: secret, scope }: ConnectionAuthInput,
): NonNullable<ConnectionChange['auth']> {
  if (scope !== null && !isScope(scope)) throw new Refusal('invalid_request', `auth.scope ${scopeRule}`);
  if (clientId === null && secret != null) {
    throw new Refusal('invalid_request', 'auth.client_secret is of a client: give auth.client_id too.');
  }
  if (secret == null) return { clientId, clientSecret: secret, scope };
  const sealed = secrets.seal(secret, connectionClientSecretContext(agentId, connection));
  return { clientId, clientSecret: { sealed, last4: lastOf(secret) }, scope };
}

const lastOf = (secret: string): string => (secret.length >= 16 ? secret.slice(-4) : '');

function stored(result: Awaited<ReturnType<ConnectionStore['put']>>, agentId: string): ConnectionRow {
  switch (result) {
    case 'no_agent':
      throw notFound(agentId);
    case 'too_many':
      throw new Refusal('quota_exceeded', `An agent may have ${connectionBounds.perAgent} connections.`);
    case 'headers_needed':
      throw new Refusal(
        'invalid_request',
        'headers must be given again with another url or kind: what is stored was given for where it leads now.',
      );
    case 'auth_needed':
      throw new Refusal(
        'invalid_request',
        'auth must be given again with another url: the client secret that is stored was given for where it leads now.',
      );
    case 'authorization_twice':
      throw new Refusal('invalid_request', 'auth and a header Authorization cannot be together: leave one out.');
    default:
      return result;
  }
}

function sealedHeaders(
  secrets: SecretBox,
  agentId: string,
  connection: string,
  headers: Readonly<Record<string, string>>,
): NonNullable<ConnectionChange['headers']> {
  const names = new Set<string>();
  const { headerChars } = connectionBounds;
  if (Object.values(headers).reduce((sum, { length }) => sum + length, 0) > headerChars) {
    throw new Refusal('invalid_request', `headers may have at most ${headerChars} characters in all values together.`);
  }
  return Object.entries(headers).map(([name, value]) => {
    const lower = name.toLowerCase();
    if (!mayBeSet(lower))
      throw new Refusal('invalid_request', `headers.${name} is a header that Lodge sets by itself.`);
    if (names.has(lower)) throw new Refusal('invalid_request', `headers.${name} is given twice.`);
    names.add(lower);
    const sealed = secrets.seal(value, connectionHeaderContext(agentId, connection, name));
    return { name, sealed, last4: lastOf(value) };
  });
}
