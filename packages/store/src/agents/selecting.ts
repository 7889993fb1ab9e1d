/** Reads of agents. Deleted agents (`deletedAt` set) are invisible to all of them; their rows stay for their metered calls. */
import { agentIdPattern } from '@lodge/domain';
import { sql } from 'kysely';
import type { ExpressionBuilder, ExpressionWrapper, SqlBool } from 'kysely';
import { agentById, agentJson, toAgentRow } from './agent-row.ts';
import type { AgentRow } from './agent-row.ts';
import type { AgentFilter } from './facts.ts';
import { decodeCursor, encodeCursor } from '../database/cursor.ts';
import type { Database, Queries } from '../database/database.ts';
import type { DB } from '../database/tables.ts';

export const liveAgents = (db: Queries) =>
  db.selectFrom('agents').select(agentJson().as('agent')).where('deletedAt', 'is', null);

export async function selectAgent(db: Queries, id: string): Promise<AgentRow | null> {
  const row = await liveAgents(db).where('id', '=', id).executeTakeFirst();
  return row ? toAgentRow(row.agent) : null;
}

export async function findAgent(database: Database, id: string): Promise<AgentRow | null> {
  if (!agentIdPattern.test(id)) return null;
  const [row] = await database.read(agentById, [id]);
  return row ? toAgentRow(row) : null;
}

/** Returns null where the agent is another account's, too. */
export async function findOwnAgent(database: Database, accountId: string, id: string): Promise<AgentRow | null> {
  const row = await findAgent(database, id);
  return row?.accountId === accountId ? row : null;
}

export interface AgentList {
  readonly rows: readonly AgentRow[];
  readonly nextCursor: string | null;
}

export async function agentPage(db: Queries, filter: AgentFilter): Promise<AgentList> {
  const after = filter.cursor === undefined ? null : decodeCursor(filter.cursor);
  if (!canBeStored(...textsOf(filter))) return { rows: [], nextCursor: null };
  const found = await liveAgents(db)
    .where('accountId', '=', filter.accountId)
    .where((eb) => eb.and(conditionsOf(eb, filter)))
    .$if(after !== null, (query) =>
      query.where((eb) =>
        eb(eb.refTuple('createdAt', 'id'), filter.order === 'asc' ? '>' : '<', eb.tuple(after!.createdAt, after!.id)),
      ),
    )
    .orderBy('createdAt', filter.order)
    .orderBy('id', filter.order)
    // One more row than the page shows whether another page follows.
    .limit(filter.limit + 1)
    .execute();
  const rows = found.slice(0, filter.limit).map(({ agent }) => toAgentRow(agent));
  return { rows, nextCursor: found.length > filter.limit ? encodeCursor(rows.at(-1)!) : null };
}

/**
 * Returns agents of `host`, or of no host yet, that have a machine, need one or must lose one. Agents that rest in `stopped`
 * or `error` are left out.
 */
export async function presentAgents(db: Queries, host: string): Promise<readonly AgentRow[]> {
  const rows = await liveAgents(db)
    .where((eb) => eb.or([eb('host', '=', host), eb('host', 'is', null)]))
    .where((eb) =>
      eb.or([
        eb('desired', '=', 'deleted'),
        eb('status', 'in', ['provisioning', 'running', 'paused']),
        eb('operationKind', 'is not', null),
      ]),
    )
    .orderBy('createdAt')
    .execute();
  return rows.map(({ agent }) => toAgentRow(agent));
}

/** Returns the ids among these whose agents are not deleted. */
export async function existingAgents(db: Queries, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom('agents')
    .select('id')
    .where('deletedAt', 'is', null)
    .where('id', '=', sql<string>`any(${ids})`)
    .execute();
  return new Set(rows.map(({ id }) => id));
}

/** Returns the imports that agents wait for. */
export async function waitingImports(db: Queries): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom('agents')
    .select('nextImport')
    .where('nextImport', 'is not', null)
    .where('deletedAt', 'is', null)
    .where('desired', '=', 'running')
    .execute();
  return new Set(rows.flatMap(({ nextImport }) => nextImport ?? []));
}

/** Returns every agent that is not deleted. */
export async function allAgents(db: Queries): Promise<readonly AgentRow[]> {
  const rows = await liveAgents(db).orderBy('createdAt').execute();
  return rows.map(({ agent }) => toAgentRow(agent));
}

function conditionsOf(
  eb: ExpressionBuilder<DB, 'agents'>,
  { status, runtimeKind, name, labels, hasLabel, metadata }: AgentFilter,
): ExpressionWrapper<DB, 'agents', SqlBool>[] {
  return [
    ...(status === undefined ? [] : [eb('status', '=', status)]),
    ...(runtimeKind === undefined ? [] : [eb('runtimeKind', '=', runtimeKind)]),
    // `ilike` would give a meaning to some characters, which are plain here.
    ...(name === undefined ? [] : [eb(sql<number>`position(lower(${name}) in lower(name))`, '>', 0)]),
    ...(labels === undefined ? [] : [eb('labels', '@>', sql<never>`${JSON.stringify(labels)}::jsonb`)]),
    ...(hasLabel === undefined ? [] : [eb('labels', '?', sql<never>`${hasLabel}`)]),
    ...(metadata === undefined ? [] : [eb('metadata', '@>', sql<never>`${JSON.stringify(metadata)}::jsonb`)]),
  ];
}

/** The texts of a filter that somebody wrote. */
const textsOf = ({ name = '', labels = {}, hasLabel = '', metadata = {} }: AgentFilter): string[] => [
  name,
  hasLabel,
  ...[labels, metadata].flatMap((pairs) => Object.entries(pairs).flat()),
];

/**
 * Whether Postgres can store the texts. It stores no NUL and no half of a surrogate pair, so no row matches such a text, and
 * a query with one is an error.
 */
const canBeStored = (...texts: readonly string[]): boolean =>
  texts.every((text) => text.isWellFormed() && !text.includes('\0'));
