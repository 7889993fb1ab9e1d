/** For tests: what a relay does, by hand: it has the leases of channels, puts in what users write, and sees what is sent. */
/* oxlint-disable no-restricted-imports -- only tests import this file */
import { randomUUID } from 'node:crypto';
import { defaultAccess } from '@lodge/domain';
import type { ChannelAccess } from '@lodge/domain';
import { createRelayStore } from '@lodge/engine';
import type { InboundFile, InboundMessage, Lease, PartToSend, RelayStore } from '@lodge/ports';
import type { Store } from '@lodge/store';
import { channelsFixture } from '../../../store/src/testing/channels-fixture.ts';
import { until } from './plane.ts';

export const openAccess: ChannelAccess = {
  ...defaultAccess,
  mode: 'open',
  groups: { mode: 'open', allow: [], requireMention: false },
  perSenderHourly: 1_000,
};

export interface Written {
  readonly conversation?: string;
  readonly kind?: 'direct' | 'group';
  readonly sender?: string;
  readonly files?: readonly InboundFile[];
}

export class RelayHand {
  private readonly relay: RelayStore;
  private readonly lease: Lease;

  private constructor(relay: RelayStore, lease: Lease) {
    this.relay = relay;
    this.lease = lease;
  }

  /** Puts a channel that anybody may write to, Telegram unless told, and takes its lease. */
  static async of(
    store: Store,
    accountId: string,
    agentId: string,
    access = openAccess,
    channel: 'telegram' | 'slack' | 'discord' = 'telegram',
  ): Promise<RelayHand> {
    const credentials = [] as const;
    await channelsFixture(store).put({ accountId, agentId, channel, enabled: true, access, credentials });
    const relay = createRelayStore(store);
    const leases = await relay.acquire({ relay: 'hand', channels: [channel], limit: 100, leaseMs: 600_000 });
    return new RelayHand(
      relay,
      leases.find((lease) => lease.agentId === agentId)!,
    );
  }

  async write(
    text: string,
    { conversation = 'c1', kind = 'direct', sender = 'ada', files = [] }: Written = {},
  ): Promise<void> {
    const message: InboundMessage = {
      id: randomUUID(),
      conversation: { id: conversation, kind, title: kind === 'group' ? 'The team' : null },
      sender: { id: sender, name: `${sender} "L"`, isBot: false },
      addressed: true,
      text,
      sentAt: new Date('2026-11-22T12:00:00Z'),
      files,
      replyTo: null,
    };
    await this.relay.receive(this.lease, [message]);
  }

  /** The bytes of files that wait for them. */
  async fetch(keyOf: (ref: string) => Promise<{ readonly key: string; readonly bytes: number }>): Promise<void> {
    for (const { id, ref } of await this.relay.filesToFetch([this.lease], 100)) {
      await this.relay.fetched(this.lease, id, await keyOf(ref));
    }
  }

  /** Sends what waits; gives it. */
  async sendAll(): Promise<readonly PartToSend[]> {
    const sent: PartToSend[] = [];
    for (;;) {
      const parts = await this.relay.partsToSend([this.lease], 100);
      if (parts.length === 0) return sent;
      for (const part of parts) {
        if (part.content.kind === 'markdown') {
          await this.relay.split(this.lease, part.id, [{ text: part.content.markdown, format: null }]);
          continue;
        }
        if (!(await this.relay.sending(this.lease, part.id))) throw new Error('the part is not ours to send');
        await this.relay.sent(this.lease, part.id, randomUUID());
        sent.push(part);
      }
    }
  }

  /** Waits until there is something to send, and sends it: texts, and names of files. */
  async answer(): Promise<readonly string[]> {
    let sent: readonly PartToSend[] = [];
    await until('an answer is sent', async () => (sent = await this.sendAll()).length > 0, 30_000);
    return sent.map(({ content }) => {
      if (content.kind === 'file') return `file ${content.name}`;
      return content.kind === 'text' ? content.text : content.markdown;
    });
  }
}
