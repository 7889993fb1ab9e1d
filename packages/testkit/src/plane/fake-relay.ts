/** Relay processes that are none: each answers in this process, by a check that the test gives, and holds no connection. */
import { duplexPair } from 'node:stream';
import { ChannelFailure } from '@lodge/ports';
import type { ChannelCheck } from '@lodge/ports';
import { Channel } from '@lodge/vm/channel';
import type { Host } from '../../../../apps/server/src/machine-host/host.ts';
import type { RelayOrder, RelayReply } from '../../../../apps/server/src/relay/protocol.ts';

export function fakeRelays(check: ChannelCheck): Host['launchRelay'] {
  return async () => {
    const [stream, own] = duplexPair();
    const channel = new Channel(own, { peer: 'relayKeeper' });
    channel.receive('order', ({ order }) => {
      void answer(check, order as RelayOrder, (reply) => channel.send({ kind: 'said', reply })).then((isOver) => {
        if (isOver) channel.close();
      });
    });
    // It holds no connection, so no work is for it.
    for (const kind of ['work', 'noticed']) channel.receive(kind, () => undefined);
    channel.open();
    return { stream, kill: async () => channel.close() };
  };
}

/** Resolves with whether the relay is to end. */
async function answer(check: ChannelCheck, order: RelayOrder, say: (reply: RelayReply) => void): Promise<boolean> {
  if (order.type === 'start') say({ type: 'ready' });
  if (order.type === 'ping') say({ type: 'pong' });
  if (order.type !== 'verify' && order.type !== 'pair') return order.type === 'close';
  const { id, channel } = order;
  try {
    if (order.type === 'verify') {
      say({
        type: 'verified',
        id,
        verified: await check.verify(channel, order.credentials, AbortSignal.timeout(20_000)),
      });
    } else {
      const isHere = await check.pairByNumber(order.agentId, channel, order.phoneNumber);
      say({ type: 'paired', id, isHere });
    }
  } catch (error) {
    if (!(error instanceof ChannelFailure)) throw error;
    say({ type: 'failed', id, reason: error.reason });
  }
  return false;
}
