/**
 * The owners' use-cases for the connections of their agents, in every state of the agent. Each refuses with `agent_not_found`
 * where the account has no such agent, and with `connection_not_found` where the agent has no such connection.
 */
import { isConnectionName } from '@lodge/domain';
import type { ActorNote, ConnectionRow } from '@lodge/ports';
import { connectionsOf, deleteConnection, findConnection } from '@lodge/store/connections';
import type { ConnectionPlace } from '@lodge/store/connections';
import { writeNote } from '@lodge/store/events';
import type { ConsentBack, OAuthStart } from '../consents/sessions.ts';
import { finishConsent, noConnection, startConsent } from './consent.ts';
import type { ConnectionConsentAsk, ConnectionConsentEnd, ConsentDeps } from './consent.ts';
import { checkedChange } from './input.ts';
import type { ConnectionInput, InputDeps } from './input.ts';
import { putConnection } from './put.ts';

export type ConnectionsDeps = ConsentDeps & InputDeps;

export type Connections = ReturnType<typeof createConnections>;

export function createConnections(deps: ConnectionsDeps) {
  const { agents, database } = deps;
  const find = async (accountId: string, agentId: string, name: string): Promise<ConnectionRow> => {
    await agents.get(accountId, agentId);
    const row = isConnectionName(name)
      ? await database.repeatable((db) => findConnection(db, { accountId, agentId, name }))
      : undefined;
    if (row === undefined) throw noConnection();
    return row;
  };
  return {
    find,
    /** By name. */
    async list(accountId: string, agentId: string): Promise<readonly ConnectionRow[]> {
      await agents.get(accountId, agentId);
      return database.repeatable((db) => connectionsOf(db, accountId, agentId));
    },
    /** Stores a connection. Refuses with `invalid_request` and the field, or with `quota_exceeded`. */
    async put(accountId: string, agentId: string, input: ConnectionInput, note?: ActorNote): Promise<ConnectionRow> {
      await agents.get(accountId, agentId);
      const change = checkedChange(deps, accountId, agentId, input);
      return database.transaction((trx) => putConnection(trx, change, note));
    },
    async remove(accountId: string, agentId: string, name: string, note?: ActorNote): Promise<void> {
      await agents.get(accountId, agentId);
      if (!isConnectionName(name)) throw noConnection();
      const place = { accountId, agentId, name };
      await database.transaction(async (trx) => {
        if (!(await deleteConnection(trx, place))) throw noConnection();
        await writeNote(trx, place, { type: 'connection.removed', data: { connection: name } }, note);
      });
    },
    oauth: {
      /** Begins a consent. Refuses with `oauth_not_configured` or `oauth_not_possible`. */
      start: async (
        { accountId, agentId, name }: ConnectionPlace,
        ask: ConnectionConsentAsk,
        signal: AbortSignal,
      ): Promise<OAuthStart> => startConsent(deps, await find(accountId, agentId, name), ask, signal),
      /** Ends a consent with what the browser brought back. Refuses with `link_not_valid` or `invalid_request`. */
      finish: (back: ConsentBack, signal: AbortSignal): Promise<ConnectionConsentEnd> =>
        finishConsent(deps, back, signal),
    },
  };
}
