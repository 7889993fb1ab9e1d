import type { SpendDefaults } from '@lodge/domain';
import type { AgentDirectory, BrokerAgent } from '@lodge/ports';
import { sql } from 'kysely';
import type { Database } from '../database/connection.ts';

/**
 * The agents of one host, because an address means nothing on another. One query over two indexes, because it is on the path
 * of every LLM call.
 */
export class PostgresAgentDirectory implements AgentDirectory {
  private readonly database: Database;
  private readonly host: string;
  private readonly isLimited: boolean;

  /** `defaults` are the deployment's spend limits. */
  constructor(database: Database, host: string, defaults: SpendDefaults) {
    this.database = database;
    this.host = host;
    this.isLimited = defaults.agent !== null || defaults.account !== null;
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
          sql<{ keeps_contents: boolean; limited: boolean }>`(
            select json_build_object('keeps_contents', c.record_llm_calls, 'limited', c.spend_limit is not null)
            from accounts c where c.id = ${eb.ref('agents.account_id')}
          )`.as('account'),
          sql<boolean>`spend_limit is not null`.as('limited'),
          sql<string[] | null>`case when models is not null then models || array(
            select m ->> 'model' from jsonb_array_elements(members) m where m ->> 'model' is not null
          ) end`.as('models'),
        ])
        .where('vm_address', '=', address)
        // A VM from before rows named their host is on the only host there was.
        .where((eb) => eb.or([eb('host', '=', this.host), eb('host', 'is', null)]))
        .orderBy('host', (order) => order.asc().nullsLast())
        .where('deleted_at', 'is', null)
        .executeTakeFirst(),
    );
    if (!row) return null;
    const { id: agentId, account_id: accountId, runtime_kind: runtimeKind, model, models, account } = row;
    return {
      agentId,
      accountId,
      runtimeKind,
      model,
      sealedKeys: row.sealed_keys,
      keepsContents: account.keeps_contents,
      models,
      spendLimited: row.limited || account.limited || this.isLimited,
    };
  }
}
