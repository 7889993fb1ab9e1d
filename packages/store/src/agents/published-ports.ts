import type { AgentPortRow, AgentPortStore, ChangeNote, NewAgentPort } from '@lodge/ports';
import type { Selectable } from 'kysely';
import { lockAgent } from './lock.ts';
import { writeNote } from '../events/change-note.ts';
import type { Database } from '../database/connection.ts';
import type { Schema } from '../database/schema.ts';

/** `AgentPortStore` in Postgres. */
export class PostgresAgentPortStore implements AgentPortStore {
  private readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

  async ofAgent(accountId: string, agentId: string): Promise<readonly AgentPortRow[]> {
    const rows = await this.database.repeatable((db) =>
      db
        .selectFrom('agent_ports')
        .innerJoin('agents', 'agents.id', 'agent_ports.agent_id')
        .selectAll('agent_ports')
        .where('agent_id', '=', agentId)
        .where('agents.account_id', '=', accountId)
        .orderBy('port')
        .execute(),
    );
    return rows.map((row) => toPort(accountId, row));
  }

  async find(agentId: string, port: number): Promise<AgentPortRow | null> {
    const row = await this.database.repeatable((db) =>
      db
        .selectFrom('agent_ports')
        .innerJoin('agents', 'agents.id', 'agent_ports.agent_id')
        .selectAll('agent_ports')
        .select('agents.account_id')
        .where('agent_id', '=', agentId)
        .where('port', '=', port)
        .where('agents.desired', '=', 'running')
        .executeTakeFirst(),
    );
    return row ? toPort(row.account_id, row) : null;
  }

  publish(
    { accountId, agentId, port, public: isPublic }: NewAgentPort,
    most: number,
    note?: ChangeNote,
  ): Promise<{ readonly row: AgentPortRow; readonly isNew: boolean } | 'full' | 'no_agent'> {
    return this.database.transaction(async (trx) => {
      // The lock serialises changes, so they are counted correctly.
      if ((await lockAgent(trx, agentId))?.accountId !== accountId) return 'no_agent';
      const present = await trx.selectFrom('agent_ports').selectAll().where('agent_id', '=', agentId).execute();
      const before = present.find((row) => row.port === port);
      const isNew = before === undefined;
      if (isNew && present.length >= most) return 'full';
      if (before?.public === isPublic) return { row: toPort(accountId, before), isNew };
      const row = await trx
        .insertInto('agent_ports')
        .values({ agent_id: agentId, port, public: isPublic })
        .onConflict((conflict) => conflict.columns(['agent_id', 'port']).doUpdateSet({ public: isPublic }))
        .returningAll()
        .executeTakeFirstOrThrow();
      const own = { type: 'agent.port_published', data: { port, public: isPublic } } as const;
      await writeNote(trx, { accountId, agentId }, own, note);
      return { row: toPort(accountId, row), isNew };
    });
  }

  unpublish({ accountId, agentId, port }: Omit<NewAgentPort, 'public'>, note?: ChangeNote): Promise<boolean> {
    return this.database.transaction(async (trx) => {
      if ((await lockAgent(trx, agentId))?.accountId !== accountId) return false;
      const { numDeletedRows } = await trx
        .deleteFrom('agent_ports')
        .where('agent_id', '=', agentId)
        .where('port', '=', port)
        .executeTakeFirst();
      if (numDeletedRows === 0n) return false;
      await trx.deleteFrom('agent_visits').where('agent_id', '=', agentId).where('port', '=', port).execute();
      await writeNote(trx, { accountId, agentId }, { type: 'agent.port_unpublished', data: { port } }, note);
      return true;
    });
  }
}

function toPort(accountId: string, row: Selectable<Schema['agent_ports']>): AgentPortRow {
  return { accountId, agentId: row.agent_id, port: row.port, public: row.public, createdAt: row.created_at };
}
