/** Reads for the keeper of snapshots. */
import { sql } from 'kysely';
import type { Queries, Transaction } from '../database/database.ts';
import type { SnapshotRow } from './snapshots.ts';

/** Ids of saved machines that somebody needs: those of snapshots, and those that an agent's next start or restore begins from. */
export async function keptMachines(db: Queries): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string | null }>`
    select id from snapshots where status <> 'failed'
    union select unnest(array[next_from, restore_to, restore_back]) from agents
      where (next_from is not null or restore_to is not null or restore_back is not null) and deleted_at is null
  `.execute(db);
  return new Set(rows.flatMap(({ id }) => id ?? []));
}

/** Templates that the disks of snapshots lie over. */
export async function snapshotTemplates(db: Queries): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('snapshots')
    .select('templateId')
    .distinct()
    .where('templateId', 'is not', null)
    .where('status', '<>', 'failed')
    .execute();
  return rows.map(({ templateId }) => templateId!);
}

/** A snapshot whose time has come, with the reason. */
export interface DueSnapshot {
  readonly id: string;
  readonly accountId: string;
  readonly why: 'expired' | 'retention';
}

/**
 * Snapshots of `host` whose time has come by the database's clock: expired ones, automatic ones beyond their agent's `keep` and
 * `keep_days`, and failed ones after `failedDays`. One from which an agent's next start begins is none of them.
 */
export async function dueSnapshots(db: Queries, host: string, failedDays: number): Promise<readonly DueSnapshot[]> {
  const { rows } = await sql<DueSnapshot>`
    with ranked as (
      select s.*, row_number() over (partition by s.agent_id order by s.created_at desc, s.id desc) as nth
      from snapshots s where s.kind = 'auto' and s.status in ('ready', 'damaged') and not s.pinned and s.host = ${host}
    ), due as (
      select id, account_id, 'expired' as why from snapshots
      where host = ${host} and status <> 'saving' and expires_at <= clock_timestamp()
      union
      select id, account_id, 'retention' from snapshots
      where host = ${host} and status = 'failed' and expires_at is null
        and created_at < clock_timestamp() - ${failedDays} * interval '1 day'
      union
      select r.id, r.account_id, 'retention'
      from ranked r left join agents a on a.id = r.agent_id and a.deleted_at is null
      where r.expires_at is null and (
        r.nth > coalesce((a.snapshots ->> 'keep')::int, 10)
        or r.created_at < clock_timestamp() - coalesce((a.snapshots ->> 'keep_days')::int, 30) * interval '1 day'
      )
    )
    select * from due where not exists (
      select from agents a where due.id in (a.next_from, a.restore_to, a.restore_back) and a.deleted_at is null
    )
    limit 100
  `.execute(db);
  return rows;
}

/** Oldest automatic snapshots of `host` that are not pinned. */
export const oldestAutomatic = (db: Queries, host: string, limit: number): Promise<readonly SnapshotRow[]> =>
  db
    .selectFrom('snapshots')
    .selectAll()
    .where('host', '=', host)
    .where('kind', '=', 'auto')
    .where('status', 'in', ['ready', 'damaged'])
    .where('pinned', '=', false)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb.selectFrom('agents').whereRef('agents.nextFrom', '=', 'snapshots.id').where('deletedAt', 'is', null),
        ),
      ),
    )
    .orderBy('createdAt')
    .orderBy('id')
    .limit(limit)
    .execute();

/** Snapshots of `host` that are being saved, although no operation of their agent saves them. */
export async function strandedSaves(db: Queries, host: string): Promise<readonly SnapshotRow[]> {
  return db
    .selectFrom('snapshots')
    .selectAll()
    .where('host', '=', host)
    .where('status', '=', 'saving')
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('agents')
            .whereRef('agents.id', '=', 'snapshots.agentId')
            .where('agents.deletedAt', 'is', null)
            .where('agents.operationKind', 'is not', null),
        ),
      ),
    )
    .execute();
}

/** Ready snapshots of `host`, after this id, by id. */
export const readySnapshots = (
  db: Queries,
  host: string,
  after: string,
  limit: number,
): Promise<readonly SnapshotRow[]> =>
  db
    .selectFrom('snapshots')
    .selectAll()
    .where('host', '=', host)
    .where('status', '=', 'ready')
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute();

/** Snapshots that hold a machine or will. */
export const snapshotStates = (db: Queries): Promise<readonly Pick<SnapshotRow, 'id' | 'status' | 'host'>[]> =>
  db.selectFrom('snapshots').select(['id', 'status', 'host']).where('status', '<>', 'failed').orderBy('id').execute();

/** The bytes that a snapshot's files take up on its host. */
export interface HeldBytes {
  readonly id: string;
  readonly heldBytes: number;
}

/** Writes what snapshots take up. Rows that somebody else changes right now are left for the next time. */
export async function writeHeldBytes(trx: Transaction, held: readonly HeldBytes[]): Promise<void> {
  if (held.length === 0) return;
  await sql`
    update snapshots s set held_bytes = given.bytes
    from unnest(${held.map(({ id }) => id)}::text[], ${held.map(({ heldBytes }) => heldBytes)}::bigint[]) as given (id, bytes)
    where s.id = given.id and s.held_bytes <> given.bytes
      and s.id in (select id from snapshots where id = any(${held.map(({ id }) => id)}) for update skip locked)
  `.execute(trx);
}

export interface PlannedAgent {
  readonly id: string;
  readonly accountId: string;
}

interface PlanLook {
  readonly host: string;
  /** The time without another try after a failure. */
  readonly pauseSeconds: number;
  /** Agents to leave out. */
  readonly except: readonly string[];
  readonly limit: number;
}

/**
 * Agents of `host` whose plan asks for a snapshot now, by the database's clock: they run or are paused, rest, had a turn since
 * the last snapshot of any kind, and as many turns or as much time has passed as the plan says. After a failure the next try
 * waits `pauseSeconds`.
 */
export async function plannedAgents(
  db: Queries,
  { host, pauseSeconds, except, limit }: PlanLook,
): Promise<readonly PlannedAgent[]> {
  const { rows } = await sql<PlannedAgent>`
    select a.id, a.account_id
    from agents a left join lateral (
      select s.turns, s.created_at from snapshots s
      where s.agent_id = a.id and s.status in ('ready', 'damaged') order by s.created_at desc, s.id desc limit 1
    ) last on true
    where a.host = ${host} and a.deleted_at is null and a.desired = 'running' and a.operation_kind is null
      and a.status in ('running', 'paused', 'stopped') and a.acknowledged and a.next_from is null
      and (a.snapshots ->> 'every_turns' is not null or a.snapshots ->> 'every' is not null)
      and a.turns > coalesce(last.turns, 0) and a.id <> all (${[...except]}::text[])
      and (
        a.turns - coalesce(last.turns, 0) >= (a.snapshots ->> 'every_turns')::int
        or coalesce(last.created_at, a.created_at) + case right(a.snapshots ->> 'every', 1)
          when 'm' then interval '1 minute' when 'h' then interval '1 hour' else interval '1 day'
        end * left(a.snapshots ->> 'every', -1)::int <= clock_timestamp()
      )
      and not exists (select from agent_holds h where h.agent_id = a.id and h.until > clock_timestamp())
      and not exists (
        select from snapshots s where s.agent_id = a.id and s.kind = 'auto' and s.status = 'failed'
          and s.created_at > clock_timestamp() - ${pauseSeconds} * interval '1 second'
      )
    order by coalesce(last.created_at, a.created_at), a.id
    limit ${limit}
  `.execute(db);
  return rows;
}
