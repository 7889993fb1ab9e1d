import { logLevels, logSources } from '@lodge/ports';
import type { LogEntry, LogQuery } from '@lodge/ports';
import { sql } from 'kysely';
import type { RawBuilder, Selectable } from 'kysely';
import type { Queries } from '../database/database.ts';
import type { AgentLogs } from '../database/tables.ts';
import { levelCodes, levelOf, sourceCodes, sourceOf } from './append.ts';

/**
 * Reads a page of a log. Its cost does not rise with the log, because an index leads to the wanted entries in order for
 * every query.
 */
export async function logPage(db: Queries, query: LogQuery): Promise<readonly LogEntry[]> {
  // Postgres stores no such text, so no message contains it, and a query with it is an error.
  if (query.search?.includes('\0') || query.search?.isWellFormed() === false) return [];
  let rows = query.search === undefined ? [] : (await nearby(query, query.search).execute(db)).rows;
  if (rows.length < query.limit) rows = (await logPageQuery(query).execute(db)).rows;
  return rows.map((row) => ({
    id: BigInt(row.id),
    at: row.at,
    level: levelOf[row.level]!,
    source: sourceOf[row.source]!,
    message: row.message,
  }));
}

type SelectedEntry = Omit<Selectable<AgentLogs>, 'agentId'>;

function logPageQuery(query: LogQuery): RawBuilder<SelectedEntry> {
  const { search, minLevel, source } = query;
  if (search !== undefined && indexed.test(search)) return byText(query, search);
  return source === undefined && (minLevel ?? 'debug') === 'debug' ? inOrder(query) : byKind(query);
}

/** Text that the index can find, by runs of three letters or digits. Without one every entry is compared. */
const indexed = /[a-z0-9]{3}/i;

const columns = sql`id, at, level, source, message`;

/** Returns the first and the last id to read. A range of times is a range of ids. */
function bounds({ agentId, from, direction, since, until }: LogQuery): RawBuilder<unknown> {
  const first =
    since === undefined
      ? sql`select id from agent_logs where agent_id = ${agentId} order by id limit 1`
      : sql`select id from agent_logs where agent_id = ${agentId} and at >= ${since} order by at, id limit 1`;
  const last =
    until === undefined
      ? sql`select id from agent_logs where agent_id = ${agentId} order by id desc limit 1`
      : sql`select id from agent_logs where agent_id = ${agentId} and at < ${until} order by at desc, id desc limit 1`;
  const [after, before] = direction === 'asc' ? [from, undefined] : [undefined, from];
  return sql`
    bounds as materialized (
      select greatest((${first}), ${after ?? null}::bigint + 1) as first, least((${last}), ${before ?? null}::bigint - 1) as last
    )
  `;
}

const inBounds = sql`id >= (select first from bounds) and id <= (select last from bounds)`;

function inOrder(query: LogQuery): RawBuilder<SelectedEntry> {
  return sql`
    with ${bounds(query)}
    select ${columns} from agent_logs
    where agent_id = ${query.agentId} and ${inBounds} ${comparing(query)}
    order by id ${sql.raw(query.direction)}
    limit ${query.limit}
  `;
}

/** Merges the entries of each wanted source and level. */
function byKind(query: LogQuery): RawBuilder<SelectedEntry> {
  const { agentId, direction, limit, minLevel, source } = query;
  const levels = logLevels.map((level) => levelCodes[level]).filter((code) => code >= levelCodes[minLevel ?? 'debug']);
  const sources = (source === undefined ? logSources : [source]).map((name) => sourceCodes[name]);
  return sql`
    with ${bounds(query)}
    select ${columns}
    from unnest(${sources}::smallint[]) s, unnest(${levels}::smallint[]) l, lateral (
      select ${columns} from agent_logs
      where agent_id = ${agentId} and source = s and level = l and ${inBounds} ${comparing(query)}
      order by id ${sql.raw(direction)}
      limit ${limit}
    ) entries
    order by id ${sql.raw(direction)}
    limit ${limit}
  `;
}

/** Bits of `agent_log_chunk`: ids of one chunk differ only in these. */
const chunkBits = sql.lit(14);
/** Entries compared one by one before the index is used. A text that many entries contain fills its page with these. */
const nearbyEntries = 2_000;

function nearby(query: LogQuery, search: string): RawBuilder<SelectedEntry> {
  const { agentId, direction, limit, minLevel, source } = query;
  const order = sql.raw(direction);
  return sql`
    with ${bounds(query)}, nearby as materialized (
      select ${columns} from agent_logs where agent_id = ${agentId} and ${inBounds}
      order by id ${order}
      limit ${nearbyEntries}
    )
    select ${columns} from nearby
    where message ilike ${likePattern(search)} and level >= ${levelCodes[minLevel ?? 'debug']}
      and source = any(${source === undefined ? Object.values(sourceCodes) : [sourceCodes[source]]}::smallint[])
    order by id ${order}
    limit ${limit}
  `;
}

/**
 * Reads chunk after chunk until the page is full. The chunks come in order, and each one's entries too, so the whole is in
 * order: the join can only be a loop. An `order by` around it would make the planner read one more chunk.
 */
function byText(query: LogQuery, search: string): RawBuilder<SelectedEntry> {
  const { agentId, direction, limit, minLevel, source } = query;
  const kind = levelCodes[minLevel ?? 'debug'] * 6 + (source === undefined ? 0 : 1 + sourceCodes[source]);
  const order = sql.raw(direction);
  // The additions to `agent_id`, `id` and `message` keep the planner from indexes with far more to read.
  return sql`
    with ${bounds(query)}
    select ${columns}
    from (
      select generate_series(first >> ${chunkBits}, last >> ${chunkBits}) as chunk from bounds order by chunk ${order}
    ) chunks, lateral (
      select ${columns} from agent_logs
      where agent_log_keys(agent_log_chunk(agent_id, id), level, source)
          @> array[agent_log_chunk(${agentId}, chunk << ${chunkBits}) + ${kind}::int]
        and message ilike ${roughPattern(search)} and message || '' ilike ${likePattern(search)}
        and agent_id || '' = ${agentId}
        and id + 0 between (select first from bounds) and (select last from bounds)
      order by id ${order}
      limit ${limit}
    ) entries
    limit ${limit}
  `;
}

const comparing = ({ search }: LogQuery): RawBuilder<unknown> =>
  search === undefined ? sql`` : sql`and message ilike ${likePattern(search)}`;

/**
 * Returns a pattern for the search index: four pieces of a long text, in their order. Each three characters in a row are one
 * more list of the index to read, and few lists are enough.
 */
function roughPattern(text: string): string {
  const characters = Array.from(text);
  if (characters.length <= 16) return likePattern(text);
  const pieces = [0, 1, 2, 3].map((n) => {
    const at = Math.floor((n * (characters.length - 5)) / 3);
    return characters.slice(at, at + 5).join('');
  });
  return pieces.some((piece) => indexed.test(piece)) ? pieces.map(likePattern).join('') : likePattern(text);
}

/** Returns a pattern in which the special characters of `like` are plain. */
const likePattern = (text: string): string => `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;
