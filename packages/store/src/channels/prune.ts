/**
 * Deletes rows over the bounds, oldest first, in steps short enough that no writer waits long. Waiting rows are kept.
 *
 * One process does it at a time, and finished work is not looked at again: an index finds everything.
 */
import { pairingBounds } from '@lodge/domain';
import type { ChannelName } from '@lodge/domain';
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { Database, Transaction } from '../database/database.ts';
import { advisoryLocks } from '../database/locks.ts';
import { endUnverified } from './unverified.ts';

const step = 1_000;
const maxAgeDays = 30;
/** Most ended messages of a channel. */
const maxKept = 10_000;
/** Days for which ids outlive their messages, because platforms deliver again within days. */
const seenDays = 14;
/** Days for which an undecided sender is kept. */
const pendingDays = pairingBounds.endsAfterMs / 86_400_000;
/** Days for which a conversation without a turn is kept, once nothing of it is. */
const strangerDays = 1;
/** Days for which answers to no message are kept, such as a stranger's code. */
const noticeDays = 1;
/** Days for which choices can be pressed: longer than any question is open. */
const choiceDays = 31;
/** Older ones went with their messages, or in an earlier round. */
const noticeUntilDays = 7;

/** Returns whether there may be more to do. */
type Step = (trx: Transaction) => Promise<boolean>;

export async function pruneChannels(database: Database): Promise<void> {
  const numbers = (await dueChannels(database)).map(
    (each): Step =>
      (trx) =>
        pruneNumber(trx, each),
  );
  for (const run of [
    pruneAged,
    ...numbers,
    pruneNotices,
    pruneChoices,
    pruneSeen,
    prunePending,
    pruneStrangers,
    pruneUnverified,
  ]) {
    for (let hasMore = true; hasMore;) {
      const result = await database.transaction((trx) => underLock(trx, run));
      if (result === null) return;
      hasMore = result;
    }
  }
}

/** Runs a step under the lock. Null when another process has it. */
const underLock = async (trx: Transaction, run: Step): Promise<boolean | null> =>
  (await tryPruneLock(trx)) ? run(trx) : null;

/** Takes the lock of steps that end or delete old rows, until the transaction ends. False when another process has it. */
export async function tryPruneLock(trx: Transaction): Promise<boolean> {
  const { rows } = await sql<{ ours: boolean }>`
    select pg_try_advisory_xact_lock(${advisoryLocks.channelPrune}) as ours
  `.execute(trx);
  return rows[0]!.ours;
}

const aged = (column: string, days: number): RawBuilder<unknown> =>
  sql`${sql.ref(column)} < clock_timestamp() - ${days} * interval '1 day'`;

async function pruned(trx: Transaction, statement: RawBuilder<unknown>): Promise<boolean> {
  const { numAffectedRows } = await statement.execute(trx);
  return Number(numAffectedRows ?? 0n) === step;
}

const pruneAged: Step = (trx) =>
  pruneMessages(
    trx,
    sql`
      select id from channel_messages where state <> 'received' and ${aged('received_at', maxAgeDays)}
      order by received_at limit ${step}
    `,
  );

/** Deletes messages with the answers that belong to no other. */
async function pruneMessages(trx: Transaction, ids: RawBuilder<unknown>): Promise<boolean> {
  const { rows } = await sql<{ answerId: string | null }>`
    delete from channel_messages where id in (${ids}) returning answer_id
  `.execute(trx);
  const answers = new Set(rows.flatMap(({ answerId: id }) => id ?? []));
  await sql`
    delete from channel_answers a where a.id = any(${[...answers]}::text[]) and a.ended_at is not null
      and not exists (select from channel_messages m where m.answer_id = a.id)
  `.execute(trx);
  return rows.length === step;
}

interface Due {
  readonly agentId: string;
  readonly channel: ChannelName;
  readonly now: Date;
}

/** Returns the channels that had messages since their last look. */
async function dueChannels(database: Database): Promise<readonly Due[]> {
  const { rows } = await database.repeatable((db) =>
    sql<Due>`
      select agent_id, channel, clock_timestamp() as now from channels
      where last_inbound_at is not null and (pruned_at is null or pruned_at <= last_inbound_at)
    `.execute(db),
  );
  return rows;
}

async function pruneNumber(trx: Transaction, { agentId, channel, now }: Due): Promise<boolean> {
  const ended = sql`agent_id = ${agentId} and channel = ${channel} and state <> 'received'`;
  const hasMore = await pruneMessages(
    trx,
    sql`
      select id from channel_messages where ${ended}
        and seq <= (select seq from channel_messages where ${ended} order by seq desc offset ${maxKept} limit 1)
      order by seq limit ${step}
    `,
  );
  if (!hasMore) {
    await trx
      .updateTable('channels')
      .set({ prunedAt: now })
      .where('agentId', '=', agentId)
      .where('channel', '=', channel)
      .execute();
  }
  return hasMore;
}

const pruneNotices: Step = (trx) =>
  pruned(
    trx,
    sql`
      delete from channel_answers where id in (
        select a.id from channel_answers a
        where ${aged('a.ended_at', noticeDays)} and not (${aged('a.ended_at', noticeUntilDays)})
          and a.choices is null
          and not exists (select from channel_messages m where m.answer_id = a.id)
        order by a.ended_at limit ${step}
      )
    `,
  );

/** They are few, and an index has them. */
const pruneChoices: Step = (trx) =>
  pruned(
    trx,
    sql`
      delete from channel_answers where id in (
        select a.id from channel_answers a where a.choices is not null and ${aged('a.ended_at', choiceDays)} limit ${step}
      )
    `,
  );

const pruneSeen: Step = (trx) =>
  pruned(
    trx,
    sql`
      delete from channel_seen where (agent_id, channel, platform_id) in (
        select agent_id, channel, platform_id from channel_seen where ${aged('at', seenDays)} order by at limit ${step}
      )
    `,
  );

const prunePending: Step = (trx) =>
  pruned(
    trx,
    sql`
      delete from channel_senders where (agent_id, channel, sender_id) in (
        select agent_id, channel, sender_id from channel_senders
        where state = 'pending' and ${aged('asked_at', pendingDays)} limit ${step}
      )
    `,
  );

const pruneUnverified: Step = endUnverified;

/** Deletes conversations of strangers. A conversation with the agent keeps its session, so it continues where it was. */
const pruneStrangers: Step = (trx) =>
  pruned(
    trx,
    sql`
      delete from channel_conversations where id in (
        select v.id from channel_conversations v
        where ${aged('v.last_at', strangerDays)} and v.claim = 0
          and not exists (select from channel_messages m where m.conversation = v.id)
          and not exists (select from channel_answers a where a.conversation = v.id)
        limit ${step}
      )
    `,
  );
