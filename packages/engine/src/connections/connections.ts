/** What owners do with the connections of their agents, in every state of the agent. */
import { Refusal, checkedTerms, connectionBounds, isConnectionName, mayBeSet } from '@lodge/domain';
import type { ConnectionAllow, ConnectionKind } from '@lodge/domain';
import { connectionHeaderContext } from '@lodge/ports';
import type { ChangeNote, ConnectionChange, ConnectionRow, ConnectionStore, SecretBox } from '@lodge/ports';
import type { Agents } from '../agents/agents.ts';
import { notFound } from '../agents/reading.ts';

/** A connection as its owner puts it. */
export interface ConnectionInput {
  readonly name: string;
  readonly kind: ConnectionKind;
  readonly url: string;
  /** By name; undefined: those that are stored stay. */
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly allow: readonly ConnectionAllow[] | undefined;
  readonly tools: readonly string[] | null | undefined;
  readonly enabled: boolean;
}

/**
 * Each refuses with `agent_not_found` where the account has no such agent, and with `connection_not_found` where the agent
 * has no such connection.
 */
export interface Connections {
  list(accountId: string, agentId: string): Promise<readonly ConnectionRow[]>;
  find(accountId: string, agentId: string, name: string): Promise<ConnectionRow>;
  /** Refuses with `invalid_request` and the field, or `quota_exceeded`. */
  put(accountId: string, agentId: string, input: ConnectionInput, note?: ChangeNote): Promise<ConnectionRow>;
  remove(accountId: string, agentId: string, name: string, note?: ChangeNote): Promise<void>;
}

export interface ConnectionsDeps {
  readonly agents: Pick<Agents, 'get'>;
  readonly store: ConnectionStore;
  readonly secrets: SecretBox;
  /** Whether connections may lead to any address, and so without TLS. */
  readonly anyAddress: boolean;
}

export function createConnections({ agents, store, secrets, anyAddress }: ConnectionsDeps): Connections {
  return {
    async list(accountId, agentId) {
      await agents.get(accountId, agentId);
      return store.ofAgent(accountId, agentId);
    },
    async find(accountId, agentId, name) {
      await agents.get(accountId, agentId);
      const row = isConnectionName(name) ? await store.find(accountId, agentId, name) : null;
      if (row === null) throw noConnection();
      return row;
    },
    async put(accountId, agentId, input, note) {
      await agents.get(accountId, agentId);
      const { name, enabled, headers } = input;
      if (!isConnectionName(name)) {
        const rule = 'must be 1 to 32 lower case letters, digits and hyphens, a letter first and no hyphen last.';
        throw new Refusal('invalid_request', `name ${rule}`);
      }
      const terms = checkedTerms(input, anyAddress);
      const sealed = headers && sealedHeaders(secrets, agentId, name, headers);
      const change = { accountId, agentId, name, enabled, ...terms, headers: sealed };
      const result = await store.put(change, connectionBounds.perAgent, note);
      return stored(result, agentId);
    },
    async remove(accountId, agentId, name, note) {
      await agents.get(accountId, agentId);
      const was = isConnectionName(name) && (await store.remove(accountId, agentId, name, note));
      if (!was) throw noConnection();
    },
  };
}

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
    return { name, sealed, last4: value.length >= 16 ? value.slice(-4) : '' };
  });
}

const noConnection = (): Refusal => new Refusal('connection_not_found', 'The agent has no such connection.');
