/**
 * The ledger of model calls. A call has a row in `llm_calls_open` while it is in progress and one in `llm_calls` ever after.
 * Each statement that writes the second removes the first. A killed process leaves the first. Its successor on that host
 * knows it by its session and turns it into the second. The calls of a host that never comes back are ended by the others,
 * once none can be in progress any more.
 */
import type { SpendDefaults } from '@lodge/domain';
import type { LlmCall, LlmCallDetail, LlmCallPosition, LlmCallRow, OpenCall, SealedContent } from '@lodge/ports';
import { sql } from 'kysely';
import type { QueryCreator, RawBuilder, Selectable } from 'kysely';
import type { Queries, Transaction } from '../database/database.ts';
import type { DB, LlmCalls } from '../database/tables.ts';
import { isUnlimited } from './spend.ts';

/** The broker gives up a call, and the attempts to write its row, in half of this time. */
const longestCall = sql`interval '1 hour'`;

/**
 * Opens a call to which no spend limit applies, and says whether it did. Every model call waits for this, so one statement
 * decides and writes. Only where it wrote nothing does the engine decide, in a transaction.
 */
export const openUnlimitedCall = (
  db: Queries,
  call: OpenCall,
  holder: string,
  defaults: SpendDefaults,
): Promise<boolean> => insertOpenCall(db, call, holder, sql`where ${isUnlimited(call, defaults)}`);

export async function openCall(trx: Transaction, call: OpenCall, holder: string): Promise<void> {
  await insertOpenCall(trx, call, holder, sql``);
}

async function insertOpenCall(
  db: Queries,
  call: OpenCall,
  holder: string,
  where: RawBuilder<unknown>,
): Promise<boolean> {
  const { inputTokens, outputTokens, costUsd } = call.estimate;
  const { numAffectedRows } = await sql`
    insert into llm_calls_open (
      id, holder, agent_id, account_id, provider, model, api, started_at, input_tokens, output_tokens, cost_usd
    )
    select ${call.id}, ${holder}, ${call.agentId}, ${call.accountId}, ${call.provider}, ${call.model}, ${call.api},
      ${call.startedAt}::timestamptz, ${inputTokens}::bigint, ${outputTokens}::bigint, ${costUsd}::numeric
    ${where}
    on conflict (id) do nothing
  `.execute(db);
  return numAffectedRows === 1n;
}

/**
 * Closes a call in one statement, which is repeated when its answer was lost. It decides about the contents too, so that a call
 * costs no second one.
 */
export async function closeCall(
  db: Queries,
  call: LlmCall,
  content: SealedContent | null,
  maxBytes: number,
): Promise<void> {
  await (content === null ? db : db.with('kept', (cte) => keepContent(cte, call, content, maxBytes)))
    .with('closed', (cte) => cte.deleteFrom('llmCallsOpen').where('id', '=', call.id))
    .insertInto('llmCalls')
    .values({
      id: call.id,
      agentId: call.agentId,
      accountId: call.accountId,
      provider: call.provider,
      model: call.model,
      api: call.api,
      startedAt: call.startedAt,
      durationMs: Math.round(call.durationMs),
      firstByteMs: call.timeToFirstByteMs === null ? null : Math.round(call.timeToFirstByteMs),
      status: call.status,
      outcome: call.outcome,
      inputTokens: call.inputTokens,
      outputTokens: call.outputTokens,
      cacheReadTokens: call.cacheReadTokens,
      cacheWriteTokens: call.cacheWriteTokens,
      cacheWriteLongTokens: call.cacheWriteLongTokens,
      reasoningTokens: call.reasoningTokens,
      imageTokens: call.imageTokens,
      estimated: call.estimated,
      costUsd: call.costUsd,
      priceVersion: call.priceVersion,
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
}

/** Ends the calls of this host's processes before this one, and those of any host that cannot be in progress any more. */
export async function endLeftCalls(db: Queries, host: string, holder: string): Promise<number> {
  const { numAffectedRows } = await sql`
    with ended as (
      delete from llm_calls_open
      where (split_part(holder, '#', 1) = ${host} and holder <> ${holder})
        or opened_at < clock_timestamp() - ${longestCall}
      returning *
    )
    insert into llm_calls (
      id, agent_id, account_id, provider, model, api, started_at, outcome, input_tokens, output_tokens, estimated, cost_usd
    )
    select id, agent_id, account_id, provider, model, api, started_at, 'interrupted', input_tokens, output_tokens, true, cost_usd
    from ended on conflict (id) do nothing
  `.execute(db);
  return Number(numAffectedRows ?? 0n);
}

/**
 * Keeps the contents only if the account records model calls right now and has room for them. The lock keeps the agent from
 * being deleted meanwhile.
 */
function keepContent(
  cte: QueryCreator<DB>,
  { id, agentId }: LlmCall,
  { sealed, truncated }: SealedContent,
  maxBytes: number,
) {
  return cte
    .insertInto('llmCallContents')
    .columns(['callId', 'agentId', 'truncated', 'sealed'])
    .expression((eb) =>
      eb
        .selectFrom('agents')
        .innerJoin('accounts', 'accounts.id', 'agents.accountId')
        .where('agents.id', '=', agentId)
        .where('agents.deletedAt', 'is', null)
        .where('accounts.recordLlmCalls', '=', true)
        .where(
          sql<boolean>`${sealed.length} + (
            select coalesce(sum(s.bytes), 0) from stored_bytes s
            where s.account_id = agents.account_id and s.kind = 'contents'
          ) <= ${maxBytes}`,
        )
        .select([
          sql.val(id).as('callId'),
          'agents.id',
          sql.val(truncated).as('truncated'),
          sql.val(sealed).as('sealed'),
        ])
        .forShare('agents'),
    )
    .onConflict((conflict) => conflict.column('callId').doNothing());
}

/** Returns an agent's finished calls, newest first, behind `after`. */
export async function listCalls(
  db: Queries,
  agentId: string,
  limit: number,
  after: LlmCallPosition | null,
): Promise<readonly LlmCallRow[]> {
  const rows = await db
    .selectFrom('llmCalls')
    .selectAll()
    .where('agentId', '=', agentId)
    .$if(after !== null, (query) =>
      query.where((eb) => eb(eb.refTuple('startedAt', 'id'), '<', eb.tuple(after!.startedAt, after!.id))),
    )
    .orderBy('startedAt', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return rows.map(toCallRow);
}

export async function findCall(db: Queries, agentId: string, callId: string): Promise<LlmCallDetail | null> {
  const row = await db
    .selectFrom('llmCalls')
    .leftJoin('llmCallContents as kept', 'kept.callId', 'llmCalls.id')
    .selectAll('llmCalls')
    .select(['kept.sealed', 'kept.truncated'])
    .where('llmCalls.id', '=', callId)
    .where('llmCalls.agentId', '=', agentId)
    .executeTakeFirst();
  if (!row) return null;
  const { sealed, truncated, ...call } = row;
  return { ...toCallRow(call), content: sealed === null ? null : { sealed, truncated: truncated! } };
}

const number = (value: string | number | null): number | null => (value === null ? null : Number(value));

function toCallRow({ firstByteMs, ...found }: Selectable<LlmCalls>): LlmCallRow {
  const { summed: _, ...row } = found;
  return {
    ...row,
    durationMs: number(row.durationMs),
    timeToFirstByteMs: number(firstByteMs),
    inputTokens: number(row.inputTokens),
    outputTokens: number(row.outputTokens),
    cacheReadTokens: number(row.cacheReadTokens),
    cacheWriteTokens: number(row.cacheWriteTokens),
    cacheWriteLongTokens: number(row.cacheWriteLongTokens),
    reasoningTokens: number(row.reasoningTokens),
    imageTokens: number(row.imageTokens),
  };
}
