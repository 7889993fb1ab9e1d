/** Delays connections that failed by their own fault. Each is reopened after a wait that grows. */
import { backoffMs, channelTitles } from '@lodge/domain';
import type { ConnectionState, LeaseRef } from '@lodge/ports';
import { sql } from 'kysely';
import type { Transaction } from '../database/database.ts';
import { appendEvents } from '../events/append.ts';
import { inMs } from '../work/leases.ts';
import { holds } from './leases.ts';
import { notify } from '../database/notifications.ts';
import { eventOf, writeState } from './states.ts';
import type { Before } from './states.ts';

const waits = { firstMs: 10_000, maxMs: 6 * 3_600_000, growth: 6 };
/** A connection that did well for this long starts again with the shortest wait. */
const forgottenAfterMs = 3_600_000;

/**
 * Records a fault; the waits are 10 s, 1 min, 6 min, 36 min, 3.6 h, 6 h. Does nothing when the lease is lost, or another
 * revision is wanted by now.
 */
export async function faulted(trx: Transaction, lease: LeaseRef): Promise<void> {
  const { rows } = await sql<Before & { readonly before: number }>`
    select c.account_id, c.account_key, c.status, c.status_code, c.identity,
      case when c.not_before > ${inMs(-forgottenAfterMs)} then c.faults else 0 end as before
    from channels c where ${holds(lease)} and c.enabled and c.revision = c.lease_revision for no key update
  `.execute(trx);
  const [row] = rows;
  if (row === undefined) return;
  const faults = row.before + 1;
  const waitMs = backoffMs(waits, faults);
  await sql`
    update channels set faults = ${faults}, not_before = ${inMs(waitMs)}
    where agent_id = ${lease.agentId} and channel = ${lease.channel}
  `.execute(trx);
  const state = faultyState(lease, faults, waitMs);
  await writeState(trx, lease, state, null);
  await notify(trx, lease.agentId, 'channel_changed');
  const event = eventOf(lease, row, state);
  const of = { accountId: row.accountId, agentId: lease.agentId, by: null };
  if (event !== null) await appendEvents(trx, [{ ...event, ...of }]);
}

function faultyState({ channel }: LeaseRef, faults: number, waitMs: number): ConnectionState {
  const at = new Date(Date.now() + waitMs).toISOString().slice(0, 16).replace('T', ' ');
  const times = faults === 1 ? '' : `, ${faults} times in a row, so a message that waits there may set it off`;
  return {
    status: 'disconnected',
    reason: {
      code: 'relay_down',
      message: `The connection to ${channelTitles[channel]} failed by a fault of Lodge${times}. It is opened again at ${at} UTC, or when the channel is restarted.`,
    },
  };
}
