import { createChannelFiles } from '@lodge/channels/files';
import type { ChannelParts } from '@lodge/engine';
import type { Log } from '@lodge/ports';
import { createGuestFiles } from '@lodge/runtimes';
import type { Store } from '@lodge/store';
import type { Closing } from '../closing.ts';
import type { Config } from '../config/config.ts';
import { startRelays } from './relays.ts';
import { channelFilesDir, relaySettings } from './settings.ts';

interface Given {
  readonly store: Store;
  readonly connectionString: string;
  readonly masterKey: Uint8Array;
  readonly log: Log;
}

/** Starts the processes that hold connections; gives what the engine's channels stand on. */
export function startChannels(
  config: Config,
  { store, connectionString, masterKey, log }: Given,
  closing: Closing,
): ChannelParts {
  const relays = startRelays({ ...relaySettings(config), store: store.relay, connectionString, masterKey, log });
  closing.push(() => relays.close());
  return {
    store: store.channels,
    turns: store.channelTurns,
    oauthSessions: store.oauthSessions,
    files: createChannelFiles(channelFilesDir(config)),
    guestFiles: createGuestFiles(),
    check: relays.check,
    gmail: null,
    bounds: { turnMs: config.chatTimeoutMs },
  };
}
