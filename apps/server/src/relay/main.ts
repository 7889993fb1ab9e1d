/**
 * A relay as a process: holds connections for the server that started it, and ends with it. Its first message is its
 * configuration. Everything it must not lose is in the database, so it may be killed at any moment.
 */
import { openSecretBox } from '@lodge/access';
import { createChannelFiles } from '@lodge/channels/files';
import { createRelay } from '@lodge/channels/relay';
import type { Relay } from '@lodge/channels/relay';
import { ChannelFailure } from '@lodge/ports';
import type { ChannelReason } from '@lodge/domain';
import type { Platform } from '@lodge/ports';
import { openStore } from '@lodge/store';
import type { Store } from '@lodge/store';
import { pino } from 'pino';
import { watchFaults } from './faults.ts';
import { loadPlatforms } from './platforms.ts';
import type { RelayAsk, RelayOrder, RelayReply, RelayStart } from './protocol.ts';

/** The server gives it longer, and then kills it. */
const closeWithinMs = 12_000;
const verifyWithinMs = 20_000;
const maxConnections = 6;

interface Running {
  readonly relay: Relay;
  readonly store: Store;
  readonly platforms: readonly Platform[];
}

let running: Promise<Running> | null = null;
let isClosing = false;
const asked = new Map<number, AbortController>();

process.on('message', (order: RelayOrder) => {
  switch (order.type) {
    case 'start':
      running ??= start(order);
      running.then(
        () => say({ type: 'ready' }),
        (error: unknown) => {
          process.stderr.write(`${error instanceof Error ? error.message : 'a relay did not start'}\n`);
          process.exit(1);
        },
      );
      return;
    case 'ping':
      return say({ type: 'pong' });
    case 'close':
      return close(0);
    case 'cancel':
      return asked.get(order.id)?.abort();
    case 'verify':
    case 'pair':
      void answer(order);
  }
});
process.on('disconnect', () => close(0));
// The terminal sends these to the whole group. The server says when.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => close(0));

async function start(options: RelayStart): Promise<Running> {
  const log = pino(
    { level: options.logLevel, base: { relay: options.channels.join() } },
    pino.destination({ dest: 2, sync: true }),
  );
  const store = await openStore({ connectionString: options.connectionString, maxConnections, log });
  const secrets = await openSecretBox(store.secrets, Buffer.from(options.masterKey, 'base64'));
  const platforms = await loadPlatforms(options.channels, options.urls, options.google, {
    notices: store.mailboxNotices,
    log,
  });
  const relay = createRelay({
    store: store.relay,
    secrets,
    platforms,
    files: createChannelFiles(options.filesDir),
    name: options.name,
    log,
    ...(options.timings && { timings: options.timings }),
  });
  watchFaults(relay, log, () => close(1));
  return { relay, store, platforms };
}

async function answer(ask: Exclude<RelayAsk, { readonly type: 'cancel' }>): Promise<void> {
  const cancelling = new AbortController();
  asked.set(ask.id, cancelling);
  try {
    const { relay, platforms } = await running!;
    if (ask.type === 'verify') {
      const platform = platforms.find(({ channel }) => channel === ask.channel);
      const signal = AbortSignal.any([cancelling.signal, AbortSignal.timeout(verifyWithinMs)]);
      const verified = (await platform?.verify?.(ask.credentials, signal)) ?? null;
      say({ type: 'verified', id: ask.id, verified });
    } else {
      const pair = relay.connectionOf(ask.agentId, ask.channel);
      await pair?.pairByNumber?.(ask.phoneNumber);
      say({ type: 'paired', id: ask.id, isHere: pair?.pairByNumber !== undefined });
    }
  } catch (error) {
    say({ type: 'failed', id: ask.id, reason: reasonOf(error) });
  } finally {
    asked.delete(ask.id);
  }
}

/** Other errors may have a token in them. */
const reasonOf = (error: unknown): ChannelReason =>
  error instanceof ChannelFailure
    ? error.reason
    : { code: 'platform_unreachable', message: 'The platform did not answer. Try again in a while.' };

function say(reply: RelayReply): void {
  if (process.connected) process.send!(reply, () => undefined);
}

/** Once. `code` is the exit's where it ends cleanly. */
function close(code: 0 | 1): void {
  if (isClosing) return;
  isClosing = true;
  setTimeout(() => process.exit(1), closeWithinMs).unref();
  void end().then(
    () => process.exit(code),
    () => process.exit(1),
  );
}

async function end(): Promise<void> {
  const { relay, store } = (await running) ?? {};
  await relay?.close();
  await store?.close();
}
