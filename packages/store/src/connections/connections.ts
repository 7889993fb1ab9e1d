/** Connections. All that read leave out those of agents that are being deleted. */
import type { ConnectionHeader, ConnectionRef, ConnectionRow, ConnectionSecret } from '@lodge/ports';
import { sql } from 'kysely';
import type { Insertable, RawBuilder } from 'kysely';
import type { Queries, Transaction } from '../database/database.ts';
import type { ConnectionHeaders, Connections } from '../database/tables.ts';
import { oauthColumn } from './oauth.ts';

/** Headers of a row `c`, by name. */
const headersColumn: RawBuilder<readonly ConnectionHeader[]> = sql`(
  select coalesce(
    json_agg(json_build_object('name', name, 'sealed', sealed, 'last4', last4, 'createdAt', created_at) order by name), '[]'
  )
  from connection_headers where agent_id = c.agent_id and connection = c.name
)`;

/** Secrets of a row `c`, by name. */
const secretsColumn: RawBuilder<readonly ConnectionSecret[]> = sql`(
  select coalesce(
    json_agg(json_build_object(
      'name', name, 'sealed', sealed, 'last4', last4, 'headers', headers, 'placeholder', placeholder,
      'createdAt', created_at
    ) order by name), '[]'
  )
  from connection_secrets where agent_id = c.agent_id and connection = c.name
)`;

/** Connections with their headers, secrets and OAuth, each in one statement. */
const live = (db: Queries, agentId: string) =>
  db
    .selectFrom('connections as c')
    .selectAll('c')
    .select([headersColumn.as('headers'), secretsColumn.as('secrets'), oauthColumn.as('oauth')])
    .where('c.agentId', '=', agentId)
    .where((eb) =>
      eb.exists(
        eb.selectFrom('agents').whereRef('agents.id', '=', 'c.agentId').where('agents.desired', '=', 'running'),
      ),
    );

/** Returns the agent's connections by name. */
export const connectionsOf = (db: Queries, accountId: string, agentId: string): Promise<readonly ConnectionRow[]> =>
  live(db, agentId).where('c.accountId', '=', accountId).orderBy('c.name').execute();

export interface ConnectionPlace {
  readonly accountId: string;
  readonly agentId: string;
  readonly name: string;
}

export const findConnection = (
  db: Queries,
  { accountId, agentId, name }: ConnectionPlace,
): Promise<ConnectionRow | undefined> =>
  live(db, agentId).where('c.accountId', '=', accountId).where('c.name', '=', name).executeTakeFirst();

export const enabledConnections = (db: Queries, agentId: string): Promise<readonly ConnectionRow[]> =>
  live(db, agentId).where('c.enabled', '=', true).orderBy('c.name').execute();

export const enabledConnection = (db: Queries, agentId: string, name: string): Promise<ConnectionRow | undefined> =>
  live(db, agentId).where('c.enabled', '=', true).where('c.name', '=', name).executeTakeFirst();

const changed = { revision: sql<string>`gen_random_uuid()::text`, updatedAt: sql<Date>`clock_timestamp()` };

/** Puts the connection in the place of one with its name. */
export async function upsertConnection(trx: Transaction, connection: Insertable<Connections>): Promise<void> {
  const { agentId: _agent, name: _name, accountId: _account, ...fields } = connection;
  await trx
    .insertInto('connections')
    .values(connection)
    .onConflict((conflict) => conflict.columns(['agentId', 'name']).doUpdateSet({ ...fields, ...changed }))
    .execute();
}

export async function replaceHeaders(
  trx: Transaction,
  { agentId, connection }: Pick<ConnectionRef, 'agentId' | 'connection'>,
  headers: readonly Pick<Insertable<ConnectionHeaders>, 'name' | 'sealed' | 'last4'>[],
): Promise<void> {
  await trx
    .deleteFrom('connectionHeaders')
    .where('agentId', '=', agentId)
    .where('connection', '=', connection)
    .execute();
  if (headers.length === 0) return;
  await trx
    .insertInto('connectionHeaders')
    .values(headers.map(({ name, sealed, last4 }) => ({ agentId, connection, name, sealed, last4 })))
    .execute();
}

/** Deletes the connection with its headers and OAuth. False when there is none. */
export async function deleteConnection(trx: Transaction, place: ConnectionPlace): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('connections')
    .where('accountId', '=', place.accountId)
    .where('agentId', '=', place.agentId)
    .where('name', '=', place.name)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

export interface Echoes {
  readonly accountId: string;
  readonly count: number;
}

/** Counts an answer with the connection's credential, and locks the connection. `count` is of the last hour. */
export async function countEcho(
  trx: Transaction,
  { agentId, connection, revision }: ConnectionRef,
): Promise<Echoes | undefined> {
  const { rows } = await sql<Echoes>`
    update connections c set echoed_at = array(
      select at from unnest(c.echoed_at || clock_timestamp()::timestamptz(3)) at
      where at > clock_timestamp() - interval '1 hour'
    )
    where agent_id = ${agentId} and name = ${connection} and revision = ${revision} and enabled
    returning account_id, cardinality(echoed_at) as count
  `.execute(trx);
  return rows[0];
}

export async function disableConnection(
  trx: Transaction,
  { agentId, connection }: ConnectionRef,
  statusReason: string,
): Promise<void> {
  await trx
    .updateTable('connections')
    .set({ enabled: false, statusReason, ...changed })
    .where('agentId', '=', agentId)
    .where('name', '=', connection)
    .execute();
}

/** Records that the connection's server asked for OAuth, which it has not. */
export async function markAsked(db: Queries, { agentId, connection, revision }: ConnectionRef): Promise<void> {
  await sql`
    update connections c set asks_oauth = true
    where agent_id = ${agentId} and name = ${connection} and revision = ${revision} and not asks_oauth
      and not exists (select from connection_oauth o where o.agent_id = c.agent_id and o.connection = c.name)
  `.execute(db);
}
