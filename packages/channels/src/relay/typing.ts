import type { OpenedRelayStore } from '@lodge/ports';
import type { HeldChannels } from './channels.ts';

const maxAtOnce = 50;
const withinMs = 5_000;

/** Shows in each conversation with a running turn that the agent is working. A failed sign does not matter. */
export class Typing {
  private readonly store: OpenedRelayStore;
  private readonly channels: HeldChannels;
  /** Time of the next sign, by conversation. */
  private due = new Map<string, number>();

  constructor(store: OpenedRelayStore, channels: HeldChannels) {
    this.store = store;
    this.channels = channels;
  }

  async look(): Promise<void> {
    const held = this.channels.connected.filter(({ platform }) => platform.limits.typingEveryMs !== null);
    if (held.length === 0) return;
    const working = await this.store.working(held.map(({ lease }) => lease));
    const now = performance.now();
    const due = new Map<string, number>();
    let begun = 0;
    for (const { conversationId, replyTo, ...lease } of working) {
      const key = JSON.stringify([lease.agentId, lease.channel, conversationId]);
      const at = this.due.get(key) ?? 0;
      const channel = this.channels.find(lease);
      if (at > now || begun >= maxAtOnce || channel?.connection == null) {
        due.set(key, at);
        continue;
      }
      begun += 1;
      due.set(key, now + channel.platform.limits.typingEveryMs!);
      const signal = AbortSignal.any([channel.signal, AbortSignal.timeout(withinMs)]);
      const { connection } = channel;
      // The separate function catches synchronous errors too, which do not matter either.
      void (async () => connection.typing({ conversationId, replyTo }, signal))().catch(() => undefined);
    }
    this.due = due;
  }
}
