import type { AgentDirectory, BrokerAgent, CallBook, LlmCall } from '@lodge/engine/ports';
import { sql } from 'kysely';
import type { Database } from './connection.ts';

/** The agents of one host, for an address says nothing on another. One query over two indexes: it is on the path of every LLM call. */
export class PostgresAgentDirectory implements AgentDirectory {
  private readonly database: Database;
  private readonly host: string;

  constructor(database: Database, host: string) {
    this.database = database;
    this.host = host;
  }

  async byAddress(address: string): Promise<BrokerAgent | null> {
    const row = await this.database.repeatable((db) =>
      db
        .selectFrom('agents')
        .select((eb) => [
          'id',
          'account_id',
          'runtime_kind',
          'model',
          sql<Record<string, string>>`(
            select coalesce(json_object_agg(k.provider, k.sealed), '{}') from llm_keys k where k.agent_id = ${eb.ref('agents.id')}
          )`.as('sealed_keys'),
        ])
        .where('vm_address', '=', address)
        // A VM that was made before rows named their host is on the only one there was.
        .where((eb) => eb.or([eb('host', '=', this.host), eb('host', 'is', null)]))
        .orderBy('host', (order) => order.asc().nullsLast())
        .where('deleted_at', 'is', null)
        .executeTakeFirst(),
    );
    if (!row) return null;
    const { id: agentId, account_id: accountId, runtime_kind: runtimeKind, model, sealed_keys: sealedKeys } = row;
    return { agentId, accountId, runtimeKind, model, sealedKeys };
  }
}

export class PostgresCallBook implements CallBook {
  private readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

  /** Nothing is written of a call before it is over. */
  async open(): Promise<null> {
    return null;
  }

  /** The same call (by `id`) twice is one row, so a write whose answer was lost is repeated. */
  async close(call: LlmCall): Promise<void> {
    await this.database.repeatable((db) =>
      db
        .insertInto('llm_calls')
        .values({
          id: call.id,
          agent_id: call.agentId,
          account_id: call.accountId,
          provider: call.provider,
          model: call.model,
          started_at: call.startedAt,
          duration_ms: Math.round(call.durationMs),
          status: call.status,
          outcome: call.outcome,
          input_tokens: call.inputTokens,
          output_tokens: call.outputTokens,
          cache_read_tokens: call.cacheReadTokens,
          cache_write_tokens: call.cacheWriteTokens,
          cost_usd: call.costUsd,
        })
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute(),
    );
  }
}
