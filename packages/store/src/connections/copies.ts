/** Connections of an agent that has none yet, with all that belongs to them. */
import type { Insertable } from 'kysely';
import type { Transaction } from '../database/database.ts';
import type { ConnectionHeaders, ConnectionOauth, Connections, ConnectionSecrets } from '../database/tables.ts';

export interface NewConnections {
  readonly connections: readonly Insertable<Connections>[];
  readonly headers: readonly Insertable<ConnectionHeaders>[];
  readonly secrets: readonly Insertable<ConnectionSecrets>[];
  readonly oauth: readonly Insertable<ConnectionOauth>[];
}

export async function insertConnections(
  trx: Transaction,
  { connections, headers, secrets, oauth }: NewConnections,
): Promise<void> {
  if (connections.length > 0) await trx.insertInto('connections').values(connections).execute();
  if (headers.length > 0) await trx.insertInto('connectionHeaders').values(headers).execute();
  if (secrets.length > 0) await trx.insertInto('connectionSecrets').values(secrets).execute();
  if (oauth.length > 0) await trx.insertInto('connectionOauth').values(oauth).execute();
}
