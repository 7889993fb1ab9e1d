import { channelCredentials, defaultAccess } from '@lodge/domain';
import type { ChannelAccess } from '@lodge/domain';
import type { Channel } from '@lodge/contract';
import type { Fingerprints } from '@lodge/engine';
import { channelCredentialContext } from '@lodge/ports';
import type { ChannelPlace, ChannelRow } from '@lodge/store/channels';

/** The only place where a row becomes the public record of a channel. */
export function channelRecord(row: ChannelRow, fingerprints: Fingerprints): Channel {
  return {
    object: 'channel',
    agent_id: row.agentId,
    channel: row.channel,
    enabled: row.enabled,
    status: row.status,
    status_reason: row.statusReason && {
      code: row.statusReason.code,
      message: row.statusReason.message,
      at: row.statusReason.at.toISOString(),
    },
    identity: row.identity && { id: row.identity.id, name: row.identity.name },
    credentials: credentialsOf(row, fingerprints),
    access: accessRecord(row.access),
    delivery: { held_by: 'host', note: row.note },
    last_inbound_at: timestamp(row.lastInboundAt),
    last_outbound_at: timestamp(row.lastOutboundAt),
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

/** The record of a channel that was never put. */
export const emptyRecord = ({ agentId, channel }: ChannelPlace): Channel => ({
  object: 'channel',
  agent_id: agentId,
  channel,
  enabled: false,
  status: 'not_configured',
  status_reason: null,
  identity: null,
  credentials: {},
  access: accessRecord(defaultAccess),
  delivery: { held_by: 'host', note: null },
  last_inbound_at: null,
  last_outbound_at: null,
  created_at: null,
  updated_at: null,
});

/** Lists the credentials that a person gave. Credentials that a connection keeps by itself are not shown. */
function credentialsOf(
  { accountId, agentId, channel, credentials }: ChannelRow,
  fingerprints: Fingerprints,
): Channel['credentials'] {
  const printOf = (name: string, sealed: string): string | null =>
    fingerprints.ofSealed(accountId, 'channel', sealed, channelCredentialContext(agentId, channel, name));
  const given = credentials.filter(({ name }) => channelCredentials[channel].includes(name));
  return Object.fromEntries(
    given.map(({ name, sealed, last4, createdAt }) => [
      name,
      { set: true as const, last4, fingerprint: printOf(name, sealed), created_at: createdAt.toISOString() },
    ]),
  );
}

const accessRecord = ({ mode, allowFrom, groups, perSenderHourly }: ChannelAccess): Channel['access'] => ({
  mode,
  allow_from: [...allowFrom],
  groups: { mode: groups.mode, allow: [...groups.allow], require_mention: groups.requireMention },
  per_sender_hourly: perSenderHourly,
});

const timestamp = (at: Date | null): string | null => at && at.toISOString();
