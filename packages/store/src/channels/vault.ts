/** Sealed values that a connection stores, such as the keys of a device. */
import { LeaseLost } from '@lodge/ports';
import type { LeaseRef } from '@lodge/ports';
import { sql } from 'kysely';
import type { Queries, Transaction } from '../database/database.ts';
import { holds } from './leases.ts';

/** Most bytes of sealed values returned at once, because they are held whole. */
const maxReadBytes = 16 * 2 ** 20;

/** Throws `LeaseLost`, and a `RangeError` when the values are too many bytes. */
export async function vaultGet(
  db: Queries,
  lease: LeaseRef,
  type: string,
  ids: readonly string[],
): Promise<Readonly<Record<string, string>>> {
  const wanted = sql`
    v.agent_id = ${lease.agentId} and v.channel = ${lease.channel} and v.type = ${type} and v.id = any(${ids}::text[])
  `;
  const { rows } = await sql<{ values: Record<string, string> | null; bytes: number }>`
    select (
      select json_object_agg(v.id, v.sealed) from channel_vault v where ${wanted} and b.bytes <= ${maxReadBytes}
    ) as values, b.bytes
    from channels c
    cross join (select coalesce(sum(octet_length(v.sealed)), 0)::float8 as bytes from channel_vault v where ${wanted}) b
    where ${holds(lease)}
  `.execute(db);
  const [row] = rows;
  // A holder with a successor would continue with used keys.
  if (row === undefined) throw new LeaseLost();
  if (row.bytes > maxReadBytes) throw new RangeError(`these values have more than ${maxReadBytes} bytes`);
  return row.values ?? {};
}

export interface VaultValue {
  readonly type: string;
  readonly id: string;
  readonly sealed: string | null;
}

/** Bounds of one channel: the values of a device that tens of thousands have written to. */
const maxValues = 100_000;
const maxBytes = 128 * 2 ** 20;

/**
 * Writes values; the last value of a repeated key counts. The caller has locked the channel's row. Throws a `RangeError`
 * when the channel would store more than it may.
 */
export async function writeVault(
  trx: Transaction,
  { agentId, channel }: LeaseRef,
  values: readonly VaultValue[],
): Promise<void> {
  const last = [...new Map(values.map((value) => [JSON.stringify([value.type, value.id]), value])).values()];
  // Every part of the statement sees the rows as they were before it. `offset 0` makes the planner look each row up by its
  // key, whatever it assumes about the table.
  const { rows } = await sql<{ items: number; bytes: number }>`
    with given as materialized (
      select * from jsonb_to_recordset(${JSON.stringify(last)}::jsonb) g (type text, id text, sealed text)
    ), found as materialized (
      select v.at, v.bytes, g.sealed is null as goes from given g cross join lateral (
        select v.ctid as at, octet_length(v.sealed) as bytes from channel_vault v
        where v.agent_id = ${agentId} and v.channel = ${channel} and v.type = g.type and v.id = g.id offset 0
      ) v
    ), before as (
      select count(*) as items, coalesce(sum(bytes), 0) as bytes from found
    ), kept as (
      insert into channel_vault (agent_id, channel, type, id, sealed)
      select ${agentId}, ${channel}, type, id, sealed from given where sealed is not null
      on conflict (agent_id, channel, type, id) do update set sealed = excluded.sealed
    ), gone as (
      delete from channel_vault where ctid = any(array(select at from found where goes))
    ), added as (
      select count(sealed) as items, coalesce(sum(octet_length(sealed)), 0) as bytes from given
    )
    update channels c set vault_values = c.vault_values + added.items - before.items,
      vault_bytes = c.vault_bytes + added.bytes - before.bytes
    from before, added where c.agent_id = ${agentId} and c.channel = ${channel}
    returning c.vault_values as items, c.vault_bytes::float8 as bytes
  `.execute(trx);
  const { items, bytes } = rows[0]!;
  if (items > maxValues || bytes > maxBytes) throw new RangeError('this channel keeps too much');
}

/** Removes all values. The caller has locked the channel's row. */
export async function clearVault(trx: Transaction, { agentId, channel }: LeaseRef): Promise<void> {
  const ofChannel = sql`agent_id = ${agentId} and channel = ${channel}`;
  await sql`delete from channel_vault where ${ofChannel}`.execute(trx);
  await sql`update channels set vault_values = 0, vault_bytes = 0 where ${ofChannel}`.execute(trx);
}
