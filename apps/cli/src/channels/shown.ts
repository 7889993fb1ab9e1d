/** How channels look to people. */
import type { Channel, ChannelTest } from '@lodge/sdk';
import { cell } from '../terminal/output.ts';
import type { Output } from '../terminal/output.ts';
import { safeLine } from '../terminal/safe.ts';
import { yesNo } from '../terminal/words.ts';

export function channelFields(out: Output, channel: Channel): string {
  const { access, status_reason: reason } = channel;
  return out.fields([
    ['channel', cell(channel.channel)],
    ['status', cell(channel.status)],
    ['reason', reason && safeLine(`${reason.message} (${reason.code})`)],
    ['enabled', yesNo(channel.enabled)],
    ['speaks as', channel.identity && safeLine(`${channel.identity.name} (${channel.identity.id})`)],
    [
      'credentials',
      Object.entries(channel.credentials)
        .map(([name, { last4 }]) => safeLine(`${name} (...${last4})`))
        .join(', ') || null,
    ],
    ['direct messages', cell(access.mode)],
    ['from', cell(access.allow_from.join(', ') || null)],
    ['a sender an hour', cell(access.per_sender_hourly)],
    ['groups', cell(access.groups.mode)],
    ['in', cell(access.groups.allow.join(', ') || null)],
    ['mention needed', yesNo(access.groups.require_mention)],
    ['note', cell(channel.delivery.note)],
    ['last message', cell(channel.last_inbound_at)],
    ['last answer', cell(channel.last_outbound_at)],
  ]);
}

export const channelLine = ({ channel, status, status_reason: reason }: Channel): string =>
  `${safeLine(channel)} is ${safeLine(status)}${reason === null ? '' : `: ${safeLine(reason.message)}`}.\n`;

export const testFields = (out: Output, test: ChannelTest): string =>
  out.fields([
    ['channel', cell(test.channel)],
    ['well', yesNo(test.ok)],
    ['status', cell(test.status)],
    ['speaks as', test.identity && safeLine(`${test.identity.name} (${test.identity.id})`)],
    ['reason', test.reason && safeLine(`${test.reason.message} (${test.reason.code})`)],
    ['message queued', yesNo(test.message_queued)],
  ]);
