/* oxlint-disable no-restricted-imports -- only tests import this file */
import { defaultAccess } from '@lodge/domain';
import type { ChannelAccess, ChannelName } from '@lodge/domain';
import type { InboundMessage, Lease } from '@lodge/ports';
import type { ChannelChange } from '../channels/channels.ts';
import { admitAll, newAgent } from './fixture.ts';
import type { TestStore } from './agents-fixture.ts';

export const openAccess: ChannelAccess = {
  ...defaultAccess,
  mode: 'open',
  groups: { mode: 'open', allow: [], requireMention: false },
  perSenderHourly: 1_000,
};

/** A put of a Slack channel with one credential. */
export const slackChange = (
  given: Pick<ChannelChange, 'accountId' | 'agentId'> & Partial<ChannelChange>,
): ChannelChange => ({
  channel: 'slack',
  enabled: true,
  access: openAccess,
  credentials: [{ name: 'appToken', sealed: 's1', last4: '1111' }],
  ...given,
});

/** Creates an agent with a Telegram channel to which anybody may write. */
export async function agentWithChannel(
  store: TestStore,
  accountId: string,
  given: Partial<ChannelChange> = {},
): Promise<string> {
  const { id } = await store.agents.create(newAgent(accountId), admitAll);
  await store.channels.put({
    accountId,
    agentId: id,
    channel: 'telegram',
    enabled: true,
    access: openAccess,
    credentials: [{ name: 'botToken', sealed: 'sealed token', last4: 'oken' }],
    accountKey: `bot-${id}`,
    ...given,
  });
  return id;
}

/** Takes leases on the channels of these agents. All other free leases are taken and kept, too. */
export async function leasesOf(
  store: TestStore,
  agentIds: readonly string[],
  relay = 'relay',
): Promise<readonly Lease[]> {
  const channels: readonly ChannelName[] = ['telegram', 'slack', 'discord', 'whatsapp', 'gmail'];
  const all = await store.relay.acquire({ relay, channels, limit: 1_000, leaseMs: 600_000 });
  return agentIds.flatMap((id) => all.filter(({ agentId }) => agentId === id));
}

let made = 0;

export function inbound(
  given: Partial<Omit<InboundMessage, 'conversation' | 'sender'>> & {
    readonly conversation?: Partial<InboundMessage['conversation']>;
    readonly sender?: Partial<InboundMessage['sender']>;
  } = {},
): InboundMessage {
  made += 1;
  return {
    id: `m${made}`,
    addressed: true,
    text: `text ${made}`,
    sentAt: new Date(),
    files: [],
    replyTo: { message: made },
    ...given,
    conversation: { id: 'c1', kind: 'direct', title: null, ...given.conversation },
    sender: { id: 'u1', name: 'Ann', isBot: false, ...given.sender },
  };
}
