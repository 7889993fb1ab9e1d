/**
 * The owners' use-cases for the connections of their agents, in every state of the agent. Each refuses with `agent_not_found`
 * where the account has no such agent, and with `connection_not_found` where the agent has no such connection.
 */
import { randomBytes } from 'node:crypto';
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
import type { FindAuthority } from './authority.ts';
import { lockOwnAgent } from '../agents/lock.ts';
import { putConnection, renewHostAccess } from './put.ts';

/** Sixteen letters and digits. */
const makeRandom = (): string => randomBytes(8).toString('hex');

export interface ConnectionsDeps extends ConsentDeps, InputDeps {
  readonly authority: FindAuthority;
}

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
  /** The certificate of the authority; null for an agent without a host connection, which needs none. */
  const authorityFor = async (accountId: string, agentId: string, isHost: boolean): Promise<string | null> => {
    const rows = isHost ? [] : await database.repeatable((db) => connectionsOf(db, accountId, agentId));
    return isHost || rows.some(({ kind }) => kind === 'host') ? (await deps.authority()).certificate : null;
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
      const authority = await authorityFor(accountId, agentId, change.kind === 'host');
      return database.transaction((trx) => putConnection(trx, change, { note, authority, random: makeRandom }));
    },
    async remove(accountId: string, agentId: string, name: string, note?: ActorNote): Promise<void> {
      await agents.get(accountId, agentId);
      if (!isConnectionName(name)) throw noConnection();
      const place = { accountId, agentId, name };
      const authority = await authorityFor(accountId, agentId, false);
      await database.transaction(async (trx) => {
        await lockOwnAgent(trx, place);
        if (!(await deleteConnection(trx, place))) throw noConnection();
        if (authority !== null) await renewHostAccess(trx, place, authority);
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
