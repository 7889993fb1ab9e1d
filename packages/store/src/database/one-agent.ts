/**
 * Copies one agent's rows from a database into another one, to restore that agent alone. Its settings, keys and connections
 * come along. Its addresses and its places on platforms do not: they stay the other agent's. Its skills are carried apart, as
 * another account has another library.
 */
import type { Client } from 'pg';
import { connectClient } from './connection.ts';
import type { DatabaseConfig } from './connection.ts';

/** Its row, and those of the tables below, as JSON by column. */
export type AgentRows = Readonly<
  Record<'agents' | (typeof tables)[number], readonly Readonly<Record<string, unknown>>[]>
>;

/** In the order in which they refer to one another. */
const tables = ['llm_keys', 'connections', 'connection_headers', 'connection_secrets'] as const;
const tablesOfSkills = ['agent_skills', 'skills', 'skill_versions', 'skill_pieces'] as const;
/** Tables of a dump that are needed to read one agent. */
export const tablesOfOneAgent: readonly string[] = ['accounts', 'agents', 'data_keys', ...tables, ...tablesOfSkills];

/** Null where there is none, or it was deleted. */
export async function readAgentRows(config: DatabaseConfig, id: string): Promise<AgentRows | null> {
  return withClient(config, async (client) => {
    const rowsOf = async (table: string, column: string): Promise<Record<string, unknown>[]> => {
      const { rows } = await client.query<{ row: Record<string, unknown> }>(
        `select to_jsonb(t) as row from ${table} t where ${column} = $1`,
        [id],
      );
      return rows.map(({ row }) => row);
    };
    const agents = (await rowsOf('agents', 'id')).filter((row) => row['deleted_at'] === null);
    if (agents.length === 0) return null;
    return {
      agents,
      llm_keys: await rowsOf('llm_keys', 'agent_id'),
      connections: await rowsOf('connections', 'agent_id'),
      connection_headers: await rowsOf('connection_headers', 'agent_id'),
      connection_secrets: await rowsOf('connection_secrets', 'agent_id'),
    };
  });
}

export interface NewOwner {
  readonly id: string;
  readonly accountId: string;
  /** Where its disk is to lie. */
  readonly host: string;
  /** The agent says so until `agentIsRestored`. */
  readonly unfinished: string;
}

/** The account of that id or e-mail; null where there is none. */
export async function accountOf(config: DatabaseConfig, idOrEmail: string): Promise<string | null> {
  return withClient(config, async (client) => {
    const { rows } = await client.query<{ id: string }>('select id from accounts where id = $1 or email = lower($1)', [
      idOrEmail,
    ]);
    return rows[0]?.id ?? null;
  });
}

/** Writes the rows as those of a new agent, in error until its disk is there. Sealed values are those of the new one already. */
export async function writeAgentRows(config: DatabaseConfig, rows: AgentRows, owner: NewOwner): Promise<void> {
  const { id, accountId, host, unfinished } = owner;
  const fresh = {
    id,
    account_id: accountId,
    host,
    desired: 'running',
    generation: 1,
    acknowledged: true,
    status: 'error',
    status_reason_code: 'provisioning_failed',
    status_reason_message: unfinished,
    operation_kind: null,
    operation_cause: null,
    operation_started_at: null,
    lease_holder: null,
    lease_until: null,
    vm_address: null,
    execution_id: null,
    started_at: null,
    paused_at: null,
    crashes: [],
    members: [],
    peers: [],
    settings_applied: null,
    packages_applied: null,
    packages_error: null,
    skills_wanted: 'none',
    skills_applied: null,
    skills_error: null,
    egress_version: 1,
    egress_applied: 1,
    // Snapshots do not come along.
    next_from: null,
    next_memory: false,
    forked_from: null,
    turn_note: null,
  };
  await withClient(config, async (client) => {
    await client.query('begin');
    const { rows: times } = await client.query<{ now: string }>('select to_jsonb(now()) as now');
    const { now } = times[0]!;
    const at = { created_at: now, updated_at: now, stopped_at: now, last_active_at: now, status_reason_at: now };
    const insert = async (table: string, row: Readonly<Record<string, unknown>>): Promise<void> => {
      await client.query(`insert into ${table} select * from jsonb_populate_record(null::${table}, $1)`, [row]);
    };
    for (const row of rows.agents) await insert('agents', { ...row, ...fresh, ...at });
    for (const table of tables) for (const row of rows[table]) await insert(table, ofAgent(row, owner));
    await client.query('commit');
  });
}

/** Its disk is there: it is stopped from now on. False where somebody has deleted it meanwhile. */
export async function agentIsRestored(config: DatabaseConfig, id: string): Promise<boolean> {
  return withClient(config, async (client) => {
    const { rowCount } = await client.query(
      `update agents set status = 'stopped', status_reason_code = null, status_reason_message = null, status_reason_at = null
       where id = $1 and status = 'error' and desired = 'running' and deleted_at is null`,
      [id],
    );
    return rowCount === 1;
  });
}

const ofAgent = (row: Readonly<Record<string, unknown>>, { id, accountId }: NewOwner) => ({
  ...row,
  agent_id: id,
  ...('account_id' in row && { account_id: accountId }),
});

async function withClient<T>(config: DatabaseConfig, work: (client: Client) => Promise<T>): Promise<T> {
  const client = await connectClient(config);
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
