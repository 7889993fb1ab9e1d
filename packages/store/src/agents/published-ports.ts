/** Ports of agents' guests that are served under addresses of their own. They end with their agent. */
import { sql } from 'kysely';
import type { Insertable, Selectable } from 'kysely';
import type { Queries, Transaction } from '../database/database.ts';
import type { AgentPorts } from '../database/tables.ts';

export type AgentPortRow = Selectable<AgentPorts>;

/** Returns the agent's ports by number. */
export const portsOf = (db: Queries, accountId: string, agentId: string): Promise<readonly AgentPortRow[]> =>
  db
    .selectFrom('agentPorts')
    .innerJoin('agents', 'agents.id', 'agentPorts.agentId')
    .selectAll('agentPorts')
    .where('agentId', '=', agentId)
    .where('agents.accountId', '=', accountId)
    .orderBy('port')
    .execute();

export interface OwnedPort extends AgentPortRow {
  readonly accountId: string;
}

/** Returns the port of an agent that is not being deleted, with its account. */
export const findPort = (db: Queries, agentId: string, port: number): Promise<OwnedPort | undefined> =>
  db
    .selectFrom('agentPorts')
    .innerJoin('agents', 'agents.id', 'agentPorts.agentId')
    .selectAll('agentPorts')
    .select('agents.accountId')
    .where('agentId', '=', agentId)
    .where('port', '=', port)
    .where('agents.desired', '=', 'running')
    .executeTakeFirst();

export const upsertPort = (
  trx: Transaction,
  { agentId, port, public: isPublic }: Insertable<AgentPorts>,
): Promise<AgentPortRow> =>
  trx
    .insertInto('agentPorts')
    .values({ agentId, port, public: isPublic })
    .onConflict((conflict) => conflict.columns(['agentId', 'port']).doUpdateSet({ public: isPublic }))
    .returningAll()
    .executeTakeFirstOrThrow();

/** Publishes the agent's ports for these agents too, which have none. */
export async function copyPorts(trx: Transaction, agentId: string, to: readonly string[]): Promise<void> {
  await sql`
    insert into agent_ports (agent_id, port, public)
    select copy.id, p.port, p.public from agent_ports p, unnest(${to}::text[]) copy (id) where p.agent_id = ${agentId}
  `.execute(trx);
}

/** Deletes the port with its links and visits. False when there is none. */
export async function deletePort(trx: Transaction, agentId: string, port: number): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('agentPorts')
    .where('agentId', '=', agentId)
    .where('port', '=', port)
    .executeTakeFirst();
  if (numDeletedRows === 0n) return false;
  await trx.deleteFrom('agentVisits').where('agentId', '=', agentId).where('port', '=', port).execute();
  return true;
}
