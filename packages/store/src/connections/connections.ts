import type {
  ChangeNote,
  ConnectionChange,
  ConnectionDirectory,
  ConnectionNotPut,
  ConnectionRow,
  ConnectionStore,
} from '@lodge/ports';
import { connectionBounds } from '@lodge/domain';
import { sql } from 'kysely';
import type { Kysely, Selectable, Transaction } from 'kysely';
import type { Database } from '../database/connection.ts';
import type { Schema } from '../database/schema.ts';
import { appendEvent } from '../events/append.ts';
import { writeNote } from '../events/change-note.ts';
import { oauthColumn, oauthOf, putAuth } from './oauth.ts';
import type { FoundOAuth } from './oauth.ts';
import type { ConnectionTables } from './tables.ts';

/** `ConnectionStore` and `ConnectionDirectory` in Postgres. */
export class PostgresConnectionStore implements ConnectionStore, ConnectionDirectory {
  private readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

  ofAgent(accountId: string, agentId: string): Promise<readonly ConnectionRow[]> {
    return this.database.repeatable((db) => select(db, { agentId, accountId }));
  }

  async find(accountId: string, agentId: string, name: string): Promise<ConnectionRow | null> {
    const [row] = await this.database.repeatable((db) => select(db, { agentId, accountId, name }));
    return row ?? null;
  }

  usable(agentId: string): Promise<readonly ConnectionRow[]> {
    return this.database.repeatable((db) => select(db, { agentId, enabled: true }));
  }

  async usableOne(agentId: string, name: string): Promise<ConnectionRow | null> {
    const [row] = await this.database.repeatable((db) => select(db, { agentId, name, enabled: true }));
    return row ?? null;
  }

  echoed(of: Parameters<ConnectionDirectory['echoed']>[0]): Promise<void> {
    return this.database.transaction((trx) => countEcho(trx, of));
  }

  put(change: ConnectionChange, max: number, note?: ChangeNote): Promise<ConnectionRow | ConnectionNotPut> {
    return this.database.transaction((trx) => put(trx, change, max, note));
  }

  remove(accountId: string, agentId: string, name: string, note?: ChangeNote): Promise<boolean> {
    return this.database.transaction(async (trx) => {
      const { numDeletedRows } = await trx
        .deleteFrom('connections')
        .where('account_id', '=', accountId)
        .where('agent_id', '=', agentId)
        .where('name', '=', name)
        .executeTakeFirst();
      if (numDeletedRows === 0n) return false;
      const own = { type: 'connection.removed', data: { connection: name } } as const;
      await writeNote(trx, { accountId, agentId }, own, note);
      return true;
    });
  }
}

interface Wanted {
  readonly agentId: string;
  readonly accountId?: string;
  readonly name?: string;
  readonly enabled?: true;
}

interface Found extends Selectable<ConnectionTables['connections']> {
  readonly headers: readonly { name: string; sealed: string; last4: string; created_at: string }[] | null;
  readonly oauth: FoundOAuth | null;
}

/** Selects connections of agents that are not being deleted. */
async function select(db: Kysely<Schema>, wanted: Wanted): Promise<readonly ConnectionRow[]> {
  const { agentId, accountId = null, name = null, enabled = null } = wanted;
  const { rows } = await sql<Found>`
    select c.*, (
      select json_agg(h order by h.name) from connection_headers h
      where h.agent_id = c.agent_id and h.connection = c.name
    ) as headers, ${oauthColumn} as oauth
    from connections c
    where c.agent_id = ${agentId}
      and c.account_id = coalesce(${accountId}, c.account_id)
      and c.name = coalesce(${name}, c.name)
      and c.enabled = coalesce(${enabled}, c.enabled)
      and exists (select from agents a where a.id = c.agent_id and a.desired = 'running' and a.deleted_at is null)
    order by c.name
  `.execute(db);
  return rows.map(toRow);
}

const toRow = (row: Found): ConnectionRow => ({
  accountId: row.account_id,
  agentId: row.agent_id,
  name: row.name,
  kind: row.kind,
  url: row.url,
  allow: row.allow,
  tools: row.tools,
  enabled: row.enabled,
  statusReason: row.status_reason,
  headers: (row.headers ?? []).map(({ name, sealed, last4, created_at }) => ({
    name,
    sealed,
    last4,
    createdAt: new Date(created_at),
  })),
  oauth: oauthOf(row.oauth),
  asksOAuth: row.asks_oauth,
  revision: row.revision,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

async function put(
  trx: Transaction<Schema>,
  change: ConnectionChange,
  max: number,
  note: ChangeNote | undefined,
): Promise<ConnectionRow | ConnectionNotPut> {
  const { accountId, agentId, name, kind, url, enabled, headers } = change;
  if (!(await lockLiving(trx, accountId, agentId))) return 'no_agent';
  const all = await select(trx, { agentId });
  const before = all.find((each) => each.name === name);
  if (before === undefined && all.length >= max) return 'too_many';
  const goesElsewhere = before !== undefined && (before.url !== url || before.kind !== kind);
  if (goesElsewhere && headers === undefined && before.headers.length > 0) return 'headers_needed';
  const refused = authRefusal(change, before, goesElsewhere);
  if (refused !== null) return refused;
  const fields = {
    kind,
    url,
    allow: JSON.stringify(change.allow),
    tools: change.tools && JSON.stringify(change.tools),
    enabled,
    asks_oauth: false,
    // The owner who puts it has seen why it was disabled.
    status_reason: null,
    echoed_at: [],
  };
  await trx
    .insertInto('connections')
    .values({ agent_id: agentId, name, account_id: accountId, ...fields })
    .onConflict((conflict) =>
      conflict.columns(['agent_id', 'name']).doUpdateSet({
        ...fields,
        revision: sql<string>`gen_random_uuid()::text`,
        updated_at: sql<Date>`clock_timestamp()`,
      }),
    )
    .execute();
  if (headers !== undefined) await replaceHeaders(trx, change, headers);
  await putAuth(trx, change, { goesElsewhere });
  const [row] = await select(trx, { agentId, name });
  const own = { type: 'connection.put', data: { connection: name, kind, enabled } } as const;
  await writeNote(trx, { accountId, agentId }, own, note);
  return row!;
}

/** Locks an agent that is not being deleted. Its connections are counted under this lock. */
async function lockLiving(trx: Transaction<Schema>, accountId: string, agentId: string): Promise<boolean> {
  const agent = await trx
    .selectFrom('agents')
    .select('id')
    .where('id', '=', agentId)
    .where('account_id', '=', accountId)
    .where('desired', '=', 'running')
    .where('deleted_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst();
  return agent !== undefined;
}

function authRefusal(
  { kind, auth, headers }: ConnectionChange,
  before: ConnectionRow | undefined,
  goesElsewhere: boolean,
): ConnectionNotPut | null {
  const isKept = auth === undefined && before?.oauth != null && kind === 'mcp';
  if (isKept && goesElsewhere && before.oauth.clientSecret !== null) return 'auth_needed';
  const hasHeader = (headers ?? before?.headers ?? []).some(({ name }) => name.toLowerCase() === 'authorization');
  return hasHeader && (isKept || auth != null) ? 'authorization_twice' : null;
}

async function replaceHeaders(
  trx: Transaction<Schema>,
  { agentId, name: connection }: ConnectionChange,
  headers: NonNullable<ConnectionChange['headers']>,
): Promise<void> {
  await trx
    .deleteFrom('connection_headers')
    .where('agent_id', '=', agentId)
    .where('connection', '=', connection)
    .execute();
  if (headers.length === 0) return;
  await trx
    .insertInto('connection_headers')
    .values(headers.map(({ name, sealed, last4 }) => ({ agent_id: agentId, connection, name, sealed, last4 })))
    .execute();
}

const echoed =
  "Disabled: answers of the server held this connection's credential. See which requests had them, give another credential, and enable it.";

async function countEcho(
  trx: Transaction<Schema>,
  { agentId, connection, revision }: Parameters<ConnectionDirectory['echoed']>[0],
): Promise<void> {
  const { rows } = await sql<{ account_id: string; count: number }>`
    update connections c set echoed_at = array(
      select at from unnest(c.echoed_at || clock_timestamp()::timestamptz(3)) at
      where at > clock_timestamp() - interval '1 hour'
    )
    where agent_id = ${agentId} and name = ${connection} and revision = ${revision} and enabled
    returning account_id, cardinality(echoed_at) as count
  `.execute(trx);
  const [row] = rows;
  if (row === undefined) return;
  const { account_id: accountId, count } = row;
  const disabled = count >= connectionBounds.echoesPerHour;
  if (disabled) {
    await sql`
      update connections set enabled = false, status_reason = ${echoed}, revision = gen_random_uuid()::text,
        updated_at = clock_timestamp()
      where agent_id = ${agentId} and name = ${connection}
    `.execute(trx);
  }
  const event = { type: 'connection.answer_refused', data: { connection, count, disabled } } as const;
  await appendEvent(trx, { ...event, accountId, agentId, by: null });
}
