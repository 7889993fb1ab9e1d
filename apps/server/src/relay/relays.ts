/**
 * The relay processes of a server: starts them once they have a channel, and again when one died, serves their calls, and
 * ends them with the server. Root starts them (`machine-host/relays`): they share neither user nor files with this process.
 */
import { hostname } from 'node:os';
import { openedStore, startUpkeep, usualRelayTimings } from '@lodge/channels/relay';
import type { RelayTimings } from '@lodge/channels/relay';
import type { ChannelName } from '@lodge/domain';
import type { ChannelCheck, ChannelFiles, Log, MailboxNotices, RelayStore, SecretBox } from '@lodge/ports';
import type { Heartbeat } from '@lodge/vm/heartbeat';
import { channelsOf, groupNames, groupOf } from './groups.ts';
import type { RelayGroup } from './groups.ts';
import type { PlatformSetUps } from './platforms.ts';
import type { RelayStart } from './protocol.ts';
import { RelayProcess } from './relay-process.ts';
import type { Launched } from './relay-process.ts';
import { serveRelay } from './serve/serve.ts';

export interface RelaysOptions {
  readonly store: RelayStore;
  readonly notices: MailboxNotices;
  readonly secrets: SecretBox;
  readonly files: ChannelFiles;
  readonly launch: (group: RelayGroup) => Promise<Launched>;
  readonly platforms: PlatformSetUps;
  readonly instance: string;
  readonly logLevel: string;
  readonly log: Log;
  readonly timings?: RelayTimings;
  readonly heartbeat?: Heartbeat;
}

export interface Relays {
  readonly check: ChannelCheck;
  close(): Promise<void>;
}

export function startRelays(options: RelaysOptions): Relays {
  const { store, log } = options;
  const processes = groupNames.map((group) => processOf(group, options));
  const of = (channel: ChannelName): RelayProcess => processes[groupNames.indexOf(groupOf(channel))]!;
  const look = (): void => {
    store.wanted().then(
      (channels) => {
        for (const channel of channels) of(channel).start();
      },
      (error: unknown) => log.warn({ err: error }, 'whether there are channels was not found out'),
    );
  };
  const forget = store.onWork(({ of: what }) => what === 'channel' && look());
  look();
  const upkeep = startUpkeep(options);
  return {
    check: {
      async verify(channel, credentials, signal) {
        const reply = await of(channel).ask({ type: 'verify', channel, credentials }, signal);
        return reply.type === 'verified' ? reply.verified : null;
      },
      async pairByNumber(agentId, channel, phoneNumber) {
        const reply = await of(channel).ask({ type: 'pair', agentId, channel, phoneNumber });
        return reply.type === 'paired' && reply.isHere;
      },
    },
    close: async () => {
      forget();
      await Promise.all([upkeep.close(), ...processes.map((each) => each.close())]);
    },
  };
}

function processOf(group: RelayGroup, options: RelaysOptions): RelayProcess {
  const { notices, secrets, files, launch, log, heartbeat } = options;
  const channels = channelsOf(group);
  const name = `${options.instance}@${hostname()}`;
  const store = openedStore(options.store, secrets);
  return new RelayProcess({
    channels,
    launch: () => launch(group),
    serve: (channel) => {
      const { leaseMs } = options.timings ?? usualRelayTimings;
      serveRelay(channel, { store, notices, files, name, channels, leaseMs, log });
    },
    start: () => startOf(channels, name, options),
    log,
    ...(heartbeat && { heartbeat }),
  });
}

const startOf = (
  channels: readonly ChannelName[],
  name: string,
  { platforms, logLevel, timings }: RelaysOptions,
): RelayStart => ({ type: 'start', name, channels, platforms, logLevel, ...(timings && { timings }) });
