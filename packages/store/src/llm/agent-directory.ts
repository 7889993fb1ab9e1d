import type { AgentDirectory, BrokerAgent } from '@lodge/ports';
import { sql } from 'kysely';
import type { Database } from '../database/connection.ts';

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
          sql<boolean>`(
            select c.record_llm_calls from accounts c where c.id = ${eb.ref('agents.account_id')}
          )`.as('keeps_contents'),
        ])
        .where('vm_address', '=', address)
        // A VM that was made before rows named their host is on the only one there was.
        .where((eb) => eb.or([eb('host', '=', this.host), eb('host', 'is', null)]))
        .orderBy('host', (order) => order.asc().nullsLast())
        .where('deleted_at', 'is', null)
        .executeTakeFirst(),
    );
    if (!row) return null;
    const { id: agentId, account_id: accountId, runtime_kind: runtimeKind, model } = row;
    return {
      agentId,
      accountId,
      runtimeKind,
      model,
      sealedKeys: row.sealed_keys,
      keepsContents: row.keeps_contents,
      models: null,
      spendLimited: false,
    };
  }
}
