/** Files of messages, while their bytes are not on the host. A file is given out with a time before which it is not given again. */
import type { ChannelName } from '@lodge/domain';
import type { FileToFetch, LeaseRef } from '@lodge/ports';
import { sql } from 'kysely';
import type { Database } from '../database/connection.ts';
import { isHeld, leaseRows, lockHeld } from './leases.ts';
import { notify } from './notify.ts';
import { storable } from './text.ts';

/** Longer than a fetch may take. A relay that dies leaves it for so long. */
const againAfterMs = 120_000;

export async function filesToFetch(
  database: Database,
  leases: readonly LeaseRef[],
  limit: number,
): Promise<readonly FileToFetch[]> {
  if (leases.length === 0) return [];
  const { rows } = await database.transaction((trx) =>
    sql<{ id: string; agent_id: string; channel: ChannelName; number: number; ref: string; attempts: number }>`
      with due as (
        select f.id, c.lease_number as number
        from channel_files f
        join channels c on c.agent_id = f.agent_id and c.channel = f.channel
        join ${leaseRows(leases)} on ${isHeld}
        where f.file_key is null and f.reason is null and f.due_at <= clock_timestamp()
        order by f.due_at limit ${limit} for no key update of f skip locked
      )
      update channel_files f set attempts = f.attempts + 1,
        due_at = clock_timestamp() + ${againAfterMs} * interval '1 millisecond'
      from due where f.id = due.id
      returning f.id, f.agent_id, f.channel, due.number, f.ref, f.attempts - 1 as attempts
    `.execute(trx),
  );
  return rows.map(({ agent_id: agentId, ...row }) => ({ agentId, ...row }));
}

/** Throws `LeaseLost`. */
export function fetched(
  database: Database,
  lease: LeaseRef,
  id: string,
  result: { readonly key: string; readonly bytes: number } | { readonly reason: string },
): Promise<void> {
  const set =
    'key' in result
      ? { file_key: result.key, bytes: result.bytes }
      : { reason: storable(result.reason, 200) || 'it could not be had' };
  return database.transaction(async (trx) => {
    await lockHeld(trx, lease);
    await trx
      .updateTable('channel_files')
      .set(set)
      .where('id', '=', id)
      .where('agent_id', '=', lease.agentId)
      .where('channel', '=', lease.channel)
      .where('file_key', 'is', null)
      .where('reason', 'is', null)
      .execute();
    await notify(trx, lease.agentId, 'channel_work');
  });
}
