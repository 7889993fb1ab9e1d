import { channelCredentials, defaultAccess } from '@lodge/domain';
import { Channel, ChannelAccess } from '@lodge/contract';
import type { Fingerprints } from '@lodge/engine';
import { channelCredentialContext } from '@lodge/ports';
import type { ChannelPlace, ChannelRow } from '@lodge/store/channels';
import { toWire } from '../../reply/to-wire.ts';

/** The only place where a row becomes the public record of a channel. */
export const channelRecord = (row: ChannelRow, fingerprints: Fingerprints): Channel =>
  toWire(Channel, {
    ...row,
    statusReason: row.statusReason && { ...row.statusReason, at: row.statusReason.at.toISOString() },
    credentials: credentialsOf(row, fingerprints),
    access: accessRecord(row.access),
    delivery: { held_by: 'host', note: row.note },
  });

/** The record of a channel that was never put. */
export const emptyRecord = (place: ChannelPlace): Channel =>
  toWire(Channel, {
    ...place,
    enabled: false,
    status: 'not_configured',
    statusReason: null,
    identity: null,
    credentials: {},
    access: accessRecord(defaultAccess),
    delivery: { held_by: 'host', note: null },
    lastInboundAt: null,
    lastOutboundAt: null,
    createdAt: null,
    updatedAt: null,
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

const accessRecord = (access: ChannelRow['access']): Channel['access'] =>
  toWire(ChannelAccess, { ...access, groups: toWire(ChannelAccess.properties.groups, access.groups) });
