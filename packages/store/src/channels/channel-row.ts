import { channelTitles } from '@lodge/domain';
import type { ChannelAccess, ChannelIdentity, ChannelName, ChannelReason, ChannelStatus } from '@lodge/domain';
import { sql } from 'kysely';
import type { Expression, RawBuilder, Selectable } from 'kysely';
import type { Queries } from '../database/database.ts';
import type { Channels } from '../database/tables.ts';
import type { ChannelPlace } from './senders.ts';

export interface ChannelRow {
  readonly accountId: string;
  readonly agentId: string;
  readonly channel: ChannelName;
  readonly enabled: boolean;
  readonly access: ChannelAccess;
  readonly credentials: readonly ChannelCredential[];
  /** Rises with each change that requires a new connection. */
  readonly revision: number;
  readonly status: ChannelStatus;
  readonly statusReason: (ChannelReason & { readonly at: Date }) | null;
  /** A limit of the channel that works otherwise: something restricted, or something that cannot be proved. */
  readonly note: string | null;
  readonly identity: ChannelIdentity | null;
  /** Null when no code waits to be scanned or typed. The code is sealed as JSON `{qr, pairingCode}`. */
  readonly pairing: { readonly sealed: string; readonly expiresAt: Date; readonly attempt: number } | null;
  readonly lastInboundAt: Date | null;
  readonly lastOutboundAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface ChannelCredential {
  readonly name: string;
  /** See `channelCredentialContext`. */
  readonly sealed: string;
  readonly last4: string;
  readonly createdAt: Date;
}

/** Age in ms after which an ended lease means that no relay process is there to take it. */
const relayGraceMs = 30_000;

export interface AgentChannelStatus {
  readonly channel: ChannelName;
  readonly status: ChannelStatus;
}

/** Returns the channels of the agent `agentId` with their statuses, as `channelsOf` does, as one JSON column. */
export function channelStatusesOf(agentId: Expression<string>): RawBuilder<readonly AgentChannelStatus[]> {
  return sql<readonly AgentChannelStatus[]>`(
    select coalesce(json_agg(json_build_object('channel', c.channel, 'status', case
      when c.status = 'connected' and c.lease_until < clock_timestamp() - ${sql.lit(relayGraceMs)} * interval '1 millisecond'
      then 'disconnected' else c.status end
    ) order by c.channel), '[]')
    from channels c where c.agent_id = ${agentId}
  )`;
}

interface Found extends Selectable<Channels> {
  readonly credentials: readonly { name: string; sealed: string; last4: string; created_at: string }[] | null;
  readonly isAlone: boolean;
  readonly now: Date;
}

export async function findChannel(db: Queries, place: ChannelPlace): Promise<ChannelRow | null> {
  const [row] = await channelsOf(db, place);
  return row ?? null;
}

/** Returns the channels of an agent that is not being deleted; with `channel` that one alone. */
export async function channelsOf(
  db: Queries,
  { accountId, agentId, channel }: Omit<ChannelPlace, 'channel'> & Partial<ChannelPlace>,
): Promise<readonly ChannelRow[]> {
  const { rows } = await sql<Found>`
    select c.*, clock_timestamp() as now,
      coalesce(
        greatest(c.lease_until, c.not_before) < clock_timestamp() - ${relayGraceMs} * interval '1 millisecond', false
      ) as is_alone,
      (
        select json_agg(k order by k.name) from channel_credentials k where k.agent_id = c.agent_id and k.channel = c.channel
      ) as credentials
    from channels c
    where c.agent_id = ${agentId} and c.account_id = ${accountId} and c.channel = coalesce(${channel ?? null}, c.channel)
      and exists (select from agents a where a.id = c.agent_id and a.desired = 'running')
    order by c.channel
  `.execute(db);
  return rows.map(toChannelRow);
}

function toChannelRow(row: Found): ChannelRow {
  const isUp = row.status === 'connected' || row.status === 'disconnected';
  return {
    accountId: row.accountId,
    agentId: row.agentId,
    channel: row.channel,
    enabled: row.enabled,
    access: row.access,
    credentials: (row.credentials ?? []).map(toCredential),
    revision: row.revision,
    ...(isUp && row.isAlone ? relayDown(row) : statusOf(row)),
    note: row.note,
    identity: row.identity,
    pairing:
      row.pairingSealed === null || row.pairingExpiresAt! <= row.now
        ? null
        : { sealed: row.pairingSealed, expiresAt: row.pairingExpiresAt!, attempt: row.pairingAttempt! },
    lastInboundAt: row.lastInboundAt,
    lastOutboundAt: row.lastOutboundAt,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}

const statusOf = (row: Found): Pick<ChannelRow, 'status' | 'statusReason'> => ({
  status: row.status,
  statusReason:
    row.statusCode === null ? null : { code: row.statusCode, message: row.statusMessage!, at: row.statusAt! },
});

const relayDown = ({ channel, leaseUntil }: Found): Pick<ChannelRow, 'status' | 'statusReason'> => ({
  status: 'disconnected',
  statusReason: {
    code: 'relay_down',
    message: `The process that holds the connection to ${channelTitles[channel]} is not running. It is started again by itself.`,
    at: leaseUntil!,
  },
});

const toCredential = (key: NonNullable<Found['credentials']>[number]): ChannelCredential => ({
  name: key.name,
  sealed: key.sealed,
  last4: key.last4,
  createdAt: new Date(key.created_at),
});
