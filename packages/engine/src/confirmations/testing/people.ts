/* oxlint-disable no-restricted-imports -- only tests import this file */
/** People in two conversations of Telegram and WhatsApp, where an agent asks for a yes: what is sent to them, and what they answer. */
import type { ChannelName } from '@lodge/domain';
import type { Lease, PartToSend, Press } from '@lodge/ports';
import { execute } from '@lodge/testkit/postgres';
import { inbound, openAccess } from '../../../../store/src/testing/channel-fixture.ts';
import { channelsFixture } from '../../../../store/src/testing/channels-fixture.ts';
import { createRelayStore } from '../../channels/relaying/relay-store.ts';
import { createConfirmationAnswers } from '../answering.ts';
import type { TestCalls } from './calls.ts';

export type People = Awaited<ReturnType<typeof openPeople>>;

/** Both channels have the conversations `c1` and `c2`. Every message that was sent is `m1`. */
export async function openPeople({ world: { store, database }, accountId, agentId, secrets }: TestCalls) {
  const relay = createRelayStore(store, createConfirmationAnswers({ secrets }));
  const leases = new Map<ChannelName, Lease>();
  for (const channel of ['telegram', 'whatsapp'] as const) {
    const settings = { enabled: true, access: openAccess, credentials: [] } as const;
    await channelsFixture(store).put({ accountId, agentId, channel, ...settings });
    const [lease] = await relay.acquire({ relay: 'hand', channels: [channel], limit: 1, leaseMs: 600_000 });
    leases.set(channel, lease!);
    // Known conversations, whose messages are over.
    for (const id of ['c1', 'c2']) await relay.receive(lease!, [inbound({ conversation: { id } })]);
  }
  const { connectionString } = database;
  await execute(
    connectionString,
    `update channel_messages set state = 'answered'; update channel_conversations set waiting_since = null`,
  );
  return {
    /** Sends what waits, and returns it: texts, and edits. */
    async sent(channel: ChannelName): Promise<readonly PartToSend['content'][]> {
      const lease = leases.get(channel)!;
      const all: PartToSend['content'][] = [];
      for (;;) {
        const [part] = await relay.partsToSend([lease], 1);
        if (part === undefined) return all;
        if (part.content.kind === 'markdown') {
          await relay.split(lease, part.id, [{ text: part.content.markdown, format: null }]);
          continue;
        }
        if (!(await relay.sending(lease, part.id))) throw new Error('the part is not ours to send');
        await relay.sent(lease, part.id, 'm1');
        all.push(part.content);
      }
    },
    press: (token: string, given: Partial<Press> = {}) =>
      relay.press(leases.get('telegram')!, {
        token,
        sender: { id: 'u1', name: 'Ann *the* <owner>', isBot: false },
        conversation: { id: 'c1', kind: 'direct' },
        messageId: 'm1',
        ...given,
      }),
    says: (text: string, id: string, conversation = 'c1') =>
      relay.receive(leases.get('whatsapp')!, [inbound({ text, sender: { id }, conversation: { id: conversation } })]),
    /** The code of a confirmation in the conversation `c1` of WhatsApp. */
    async codeOf(id: string): Promise<string> {
      const [row] = await execute<{ code: string }>(
        connectionString,
        `select code from confirmation_messages where confirmation_id = '${id}' and channel = 'whatsapp'`,
      );
      return row!.code;
    },
    /** The name of the conversation in which the agent has its turns for one of a channel. */
    async turnsOf(channel: ChannelName, conversation: string): Promise<string> {
      const [row] = await execute<{ id: string }>(
        connectionString,
        `select id from channel_conversations where channel = '${channel}' and conversation_id = '${conversation}'`,
      );
      return `channel:${channel}:${row!.id}:1`;
    },
  };
}
