import { noSpendDefaults } from '@lodge/domain';
import type { SpendDefaults } from '@lodge/domain';
import type { AgentDirectory, BrokerAgent } from '@lodge/ports';
import { sql } from 'kysely';
import type { Database, Queries } from '../database/database.ts';

/** The agents of one host, because an address means nothing on another. `defaults` are the deployment's spend limits. */
export const agentDirectoryIn = (
  database: Database,
  host: string,
  { agent, account }: SpendDefaults = noSpendDefaults,
): AgentDirectory => ({
  async byAddress(address) {
    const found = await database.repeatable((db) => agentAt(db, host, address));
    if (!found) return null;
    const { account: ofAccount, ...row } = found;
    const isLimited = agent !== null || account !== null;
    return {
      ...row,
      keepsContents: ofAccount.keepsContents,
      spendLimited: row.spendLimited || ofAccount.limited || isLimited,
    };
  },
});

/** One query over two indexes, because it is on the path of every LLM call. */
const agentAt = (db: Queries, host: string, address: string) =>
  db
    .selectFrom('agents')
    .select((eb) => [
      'id as agentId',
      'accountId',
      'runtimeKind',
      'model',
      'confirmations',
      sql<BrokerAgent['sealedKeys']>`(
        select coalesce(json_object_agg(k.provider, k.sealed), '{}') from llm_keys k where k.agent_id = ${eb.ref('agents.id')}
      )`.as('sealedKeys'),
      sql<{ keepsContents: boolean; limited: boolean }>`(
        select json_build_object('keepsContents', c.record_llm_calls, 'limited', c.spend_limit is not null)
        from accounts c where c.id = ${eb.ref('agents.accountId')}
      )`.as('account'),
      sql<boolean>`spend_limit is not null`.as('spendLimited'),
      sql<string[] | null>`case when models is not null then models || array(
        select m ->> 'model' from jsonb_array_elements(members) m where m ->> 'model' is not null
      ) end`.as('models'),
    ])
    .where('vmAddress', '=', address)
    // A VM from before rows named their host is on the only host there was.
    .where((eb) => eb.or([eb('host', '=', host), eb('host', 'is', null)]))
    .orderBy('host', (order) => order.asc().nullsLast())
    .where('deletedAt', 'is', null)
    .executeTakeFirst();
