import { createChannelFiles } from '@lodge/channels/files';
import type { ServiceAccount } from '@lodge/channels/gmail';
import type { ChannelParts } from '@lodge/engine';
import type { GmailConsent, Log } from '@lodge/ports';
import { createGuestFiles } from '@lodge/runtimes';
import type { Store } from '@lodge/store';
import type { Closing } from '../closing.ts';
import type { Config } from '../config/config.ts';
import { googleEndpoints } from './google.ts';
import { startRelays } from './relays.ts';
import { channelFilesDir, relaySettings } from './settings.ts';

interface Given {
  readonly store: Store;
  readonly connectionString: string;
  readonly masterKey: Uint8Array;
  readonly pubsubAccount: ServiceAccount | null;
  readonly log: Log;
}

/** Starts the processes that hold connections; gives what the engine's channels stand on. */
export async function startChannels(
  config: Config,
  { store, connectionString, masterKey, pubsubAccount, log }: Given,
  closing: Closing,
): Promise<ChannelParts> {
  const settings = relaySettings(config, pubsubAccount);
  const relays = startRelays({ ...settings, store: store.relay, connectionString, masterKey, log });
  closing.push(() => relays.close());
  return {
    store: store.channels,
    turns: store.channelTurns,
    oauthSessions: store.oauthSessions,
    files: createChannelFiles(channelFilesDir(config)),
    guestFiles: createGuestFiles(),
    check: relays.check,
    gmail: await gmailConsent(settings),
    bounds: { turnMs: config.chatTimeoutMs },
  };
}

/** Null where the operator has no client at Google. Google's library is loaded where it has one. */
async function gmailConsent({ google, urls }: ReturnType<typeof relaySettings>): Promise<GmailConsent | null> {
  if (google === null) return null;
  const { createGmailConsent } = await import('@lodge/channels/gmail');
  const { clientId, clientSecret } = google;
  return createGmailConsent({ clientId, clientSecret, endpoints: googleEndpoints(urls) });
}
