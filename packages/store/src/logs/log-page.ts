import { logLevels, logSources } from '@lodge/ports';
import type { LogEntry, LogQuery } from '@lodge/ports';
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { Database } from '../database/connection.ts';
import { levelCodes, levelOf, sourceCodes, sourceOf } from './log-rows.ts';

/** A page of a log whose cost does not rise with the log: whatever is asked, an index leads to the entries wanted, in order. */
export async function logPage(database: Database, query: LogQuery): Promise<readonly LogEntry[]> {
  // Postgres has no such text, so no message holds it, and asking is an error.
  if (query.search?.includes('\0') || query.search?.isWellFormed() === false) return [];
  const run = (part: RawBuilder<SelectedEntry>) =>
    database.repeatable((db) => part.execute(db)).then(({ rows }) => rows);
  let rows = query.search === undefined ? [] : await run(nearby(query, query.search));
  if (rows.length < query.limit) rows = await run(logPageQuery(query));
  return rows.map((row) => ({
    id: BigInt(row.id),
    at: row.at,
    level: levelOf[row.level]!,
    source: sourceOf[row.source]!,
    message: row.message,
  }));
}

interface SelectedEntry {
  /** int8, which comes as text. */
  readonly id: string;
  readonly at: Date;
  readonly level: number;
  readonly source: number;
  readonly message: string;
}

function logPageQuery(query: LogQuery): RawBuilder<SelectedEntry> {
  const { search, minLevel, source } = query;
  if (search !== undefined && indexed.test(search)) return byText(query, search);
  return source === undefined && (minLevel ?? 'debug') === 'debug' ? inOrder(query) : byKind(query);
}

/** The index knows a text by its runs of three letters or digits. For one that has none every entry is compared. */
const indexed = /[a-z0-9]{3}/i;

const columns = sql`id, at, level, source, message`;

/** The first and the last id that can be wanted. A range of times is a range of ids. */
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

/** Merges the entries of each source and level that are wanted. */
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

/** Of `agent_log_chunk`: ids of one chunk differ in these bits alone. */
const chunkBits = sql.lit(14);
/** Entries that are compared one by one before the index is asked: a text that many entries hold fills its page with these. */
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
 * Goes through the chunks until the page is full. The chunks come in order, and each one's entries in order, so the whole
 * does: the join can only be a loop. An `order by` around it would have the planner look one chunk further.
 */
function byText(query: LogQuery, search: string): RawBuilder<SelectedEntry> {
  const { agentId, direction, limit, minLevel, source } = query;
  const kind = levelCodes[minLevel ?? 'debug'] * 6 + (source === undefined ? 0 : 1 + sourceCodes[source]);
  const order = sql.raw(direction);
  // What is added to `agent_id`, `id` and `message` keeps the planner from indexes that have far more to read.
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
 * What the search index is asked for: of a long text four pieces, in their order, for each three characters in a row are
 * one more list of the index to look into, and few lists are enough.
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

/** The characters that `like` gives a meaning to are plain ones here. */
const likePattern = (text: string): string => `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;
