/** Holds silent connections and reports their cost. It is a separate process: see `idle.ts`. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChannelName } from '@lodge/domain';
import type { ChannelSecrets, ConnectionHost, ConnectionState, Platform } from '@lodge/ports';
import { loadPlatforms } from '../../apps/server/src/relay/platforms.ts';
import type { PlatformSetUps } from '../../apps/server/src/relay/platforms.ts';

export interface HolderOrder {
  readonly channel: ChannelName;
  readonly platforms: PlatformSetUps;
  readonly credentials: readonly ChannelSecrets[];
}

export type HolderReply = { readonly account: number; readonly qr: string } | HeldFigures;

export interface HeldFigures {
  /** Memory with one of them open. */
  readonly firstMib: number;
  readonly allMib: number;
  readonly kibEach: number;
  readonly heapKibEach: number;
  /** Milliseconds to connect one. */
  readonly connectMsEach: number;
  /** Percentage of one core, over a minute, for a thousand of them. */
  readonly cpuPercentOfThousand: number;
}

/** The interval at which a relay opens them. */
const openEveryMs = 50;
/** Longer than the first probes, the end of the first polls, and the libraries' work half a minute after a login. */
const settleMs = 70_000;
const measuredMs = 60_000;

process.on('disconnect', () => process.exit(0));
const [order] = (await once(process, 'message')) as [HolderOrder];
const { channel, platforms, credentials } = order;
const [platform] = await loadPlatforms([channel], platforms, {
  notices: { tell: async () => undefined, on: () => () => undefined },
  log: { debug() {}, info() {}, warn() {}, error() {} },
});
const others = credentials.length - 1;

await connected(platform!, 0);
await sleep(20_000);
const first = await collected();
const opening = process.cpuUsage();
const opened: Promise<void>[] = [];
for (let account = 1; account <= others; account += 1) {
  opened.push(connected(platform!, account));
  await sleep(openEveryMs);
}
await Promise.all(opened);
const connecting = process.cpuUsage(opening);
await sleep(settleMs);
const begun = process.cpuUsage();
await sleep(measuredMs);
const idling = process.cpuUsage(begun);
const all = await collected();

const cpuMs = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1000;
const mib = (bytes: number): number => bytes / 1024 / 1024;
say({
  firstMib: mib(first.rss),
  allMib: mib(all.rss),
  kibEach: (all.rss - first.rss) / 1024 / others,
  heapKibEach: (all.heapUsed - first.heapUsed) / 1024 / others,
  connectMsEach: cpuMs(connecting) / others,
  cpuPercentOfThousand: (cpuMs(idling) / measuredMs) * 100 * (1000 / credentials.length),
});

/** Connects and stores nothing; a relay would store its state in its database. */
async function connected(of: Platform, account: number): Promise<void> {
  const isUp = Promise.withResolvers<void>();
  const nothing = (): void => undefined;
  const host: ConnectionHost = {
    received: async () => undefined,
    admits: async () => true,
    pressed: async () => ({ say: '', close: false }),
    at: async () => undefined,
    keep: async () => undefined,
    changed(state: ConnectionState) {
      if (state.status === 'connected') isUp.resolve();
      if (state.status === 'pending_pairing' && state.code?.qr) say({ account, qr: state.code.qr });
    },
    vault: { get: async () => ({}), set: async () => undefined, clear: async () => undefined },
    log: { debug: nothing, info: nothing, warn: nothing, error: nothing },
  };
  const given = { agentId: `idle${account}`, wantsUnaddressed: false, cursor: null };
  of.connect({ ...given, credentials: credentials[account]! }, host);
  await isUp.promise;
}

async function collected(): Promise<NodeJS.MemoryUsage> {
  globalThis.gc!();
  globalThis.gc!();
  await sleep(500);
  return process.memoryUsage();
}

function say(reply: HolderReply): void {
  process.send!(reply);
}
