/**
 * The ledger of model calls. A call has a row in `llm_calls_open` while it is in progress and one in `llm_calls` ever after.
 * Each statement that writes the second removes the first. A killed process leaves the first. Its successor on that host
 * knows it by its session and turns it into the second. The calls of a host that never comes back are ended by the others,
 * once none can be in progress any more.
 */
import { randomUUID } from 'node:crypto';
import type { SpendDefaults } from '@lodge/domain';
import type {
  CallLedger,
  CallRefusal,
  CallSweeper,
  LlmCall,
  LlmCallDetail,
  LlmCallPosition,
  LlmCallRow,
  OpenCall,
  SealedContent,
} from '@lodge/ports';
import { sql } from 'kysely';
import type { Kysely, QueryCreator, RawBuilder, Selectable } from 'kysely';
import type { Database } from '../database/connection.ts';
import type { Queries } from '../database/database.ts';
import type { Schema } from '../database/schema.ts';
import type { LlmCalls } from '../database/tables.ts';
import { admitSpend, isUnlimited } from './spend.ts';

/** The broker gives up a call, and the attempts to write its row, in half of this time. */
const longestCall = sql`interval '1 hour'`;

/** `CallLedger` in Postgres. */
export class PostgresCallLedger implements CallLedger, CallSweeper {
  private readonly database: Database;
  private readonly host: string;
  private readonly spendDefaults: SpendDefaults;
  private readonly contentBytes: number;
  private readonly holder: string;

  /** `contentBytes` is the most stored for the contents of one account's calls. */
  constructor(database: Database, host: string, spendDefaults: SpendDefaults, contentBytes: number) {
    this.database = database;
    this.host = host;
    this.spendDefaults = spendDefaults;
    this.contentBytes = contentBytes;
    this.holder = `${host}#${randomUUID()}`;
  }

  /** Opens a call. Every call waits for this, so it is one statement when no spend limit applies. */
  async open(call: OpenCall): Promise<CallRefusal | null> {
    const opened = await this.database.repeatable((db) =>
      this.insert(db, call, sql`where ${isUnlimited(call, this.spendDefaults)}`),
    );
    if (opened) return null;
    return this.database.transaction(async (trx) => {
      const refusal = await admitSpend(trx, call, this.spendDefaults);
      if (refusal === null) await this.insert(trx, call, sql``);
      return refusal;
    });
  }

  private async insert(db: Kysely<Schema>, call: OpenCall, where: RawBuilder<unknown>): Promise<boolean> {
    const { inputTokens, outputTokens, costUsd } = call.estimate;
    const { numAffectedRows } = await sql`
      insert into llm_calls_open (
        id, holder, agent_id, account_id, provider, model, api, started_at, input_tokens, output_tokens, cost_usd
      )
      select ${call.id}, ${this.holder}, ${call.agentId}, ${call.accountId}, ${call.provider}, ${call.model}, ${call.api},
        ${call.startedAt}::timestamptz, ${inputTokens}::bigint, ${outputTokens}::bigint, ${costUsd}::numeric
      ${where}
      on conflict (id) do nothing
    `.execute(db);
    return numAffectedRows === 1n;
  }

  /** Closes a call in one statement, which is repeated when its answer was lost. */
  async close(call: LlmCall, content: SealedContent | null = null): Promise<void> {
    await this.database.repeatable((db) =>
      (content === null ? db : db.with('kept', (cte) => keepContent(cte, call, content, this.contentBytes)))
        .with('closed', (cte) => cte.deleteFrom('llm_calls_open').where('id', '=', call.id))
        .insertInto('llm_calls')
        .values({
          id: call.id,
          agent_id: call.agentId,
          account_id: call.accountId,
          provider: call.provider,
          model: call.model,
          api: call.api,
          started_at: call.startedAt,
          duration_ms: Math.round(call.durationMs),
          first_byte_ms: call.timeToFirstByteMs === null ? null : Math.round(call.timeToFirstByteMs),
          status: call.status,
          outcome: call.outcome,
          input_tokens: call.inputTokens,
          output_tokens: call.outputTokens,
          cache_read_tokens: call.cacheReadTokens,
          cache_write_tokens: call.cacheWriteTokens,
          cache_write_long_tokens: call.cacheWriteLongTokens,
          reasoning_tokens: call.reasoningTokens,
          image_tokens: call.imageTokens,
          estimated: call.estimated,
          cost_usd: call.costUsd,
          price_version: call.priceVersion,
        })
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute(),
    );
  }

  sweep(): Promise<number> {
    return this.database.repeatable(async (db) => {
      const { numAffectedRows } = await sql`
        with ended as (
          delete from llm_calls_open
          where (split_part(holder, '#', 1) = ${this.host} and holder <> ${this.holder})
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
    });
  }
}

/**
 * Keeps the contents only if the account records model calls right now and has room for them. The lock keeps the agent from
 * being deleted meanwhile.
 */
function keepContent(
  cte: QueryCreator<Schema>,
  { id, agentId }: LlmCall,
  { sealed, truncated }: SealedContent,
  maxBytes: number,
) {
  return cte
    .insertInto('llm_call_contents')
    .columns(['call_id', 'agent_id', 'truncated', 'sealed'])
    .expression((eb) =>
      eb
        .selectFrom('agents')
        .innerJoin('accounts', 'accounts.id', 'agents.account_id')
        .where('agents.id', '=', agentId)
        .where('agents.deleted_at', 'is', null)
        .where('accounts.record_llm_calls', '=', true)
        .where(
          sql<boolean>`${sealed.length} + (
            select coalesce(sum(s.bytes), 0) from stored_bytes s
            where s.account_id = agents.account_id and s.kind = 'contents'
          ) <= ${maxBytes}`,
        )
        .select([
          sql.val(id).as('call_id'),
          'agents.id',
          sql.val(truncated).as('truncated'),
          sql.val(sealed).as('sealed'),
        ])
        .forShare('agents'),
    )
    .onConflict((conflict) => conflict.column('call_id').doNothing());
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
