import assert from 'node:assert/strict';
import type { Client } from 'pg';

/**
 * Reads the whole database as one text. It leaves out when keys, sessions and agents were last used, what keeps agents awake, and
 * how much was asked of late: a request that is refused may change these.
 */
export async function contents(client: Pick<Client, 'query'>): Promise<string> {
  const { rows } = await client.query<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = 'public' and table_name not in ('agent_holds', 'rate_buckets', 'rate_places') order by 1",
  );
  assert.ok(rows.length >= 5);
  const query = rows
    .map(
      ({ name }) =>
        `select '${name}' as name, to_jsonb(t) - '{last_used_at,last_active_at,last_seen_at}'::text[] as row from "${name}" t`,
    )
    .join(' union all ');
  return JSON.stringify((await client.query(`${query} order by 1, 2`)).rows);
}
