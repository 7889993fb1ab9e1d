import { createChannelFiles } from '@lodge/channels/files';
import type { ChannelParts } from '@lodge/engine';
import type { GmailConsent, Log, SecretBox } from '@lodge/ports';
import { createGuestFiles } from '@lodge/runtimes';
import { openStore } from '@lodge/store';
import type { Store } from '@lodge/store';
import type { Closing } from '../closing.ts';
import type { Config } from '../config/config.ts';
import type { LodgeOptions } from '../lodge-options.ts';
import type { Host } from '../machine-host/host.ts';
import { googleEndpoints } from './google.ts';
import { startRelays } from './relays.ts';
import { channelFilesDir, channelFilesFreeBytes, relaySettings } from './settings.ts';

interface Given
  extends Pick<Host, 'connectionString' | 'pubsubAccount' | 'launchRelay'>, Pick<LodgeOptions, 'guestAt' | 'gmail'> {
  readonly store: Store;
  readonly secrets: SecretBox;
  readonly log: Log;
}

/** Bound on the connections of both relay processes together. */
const maxConnections = 8;

/** Starts the processes that hold connections; returns the dependencies of the engine's channels. */
export async function startChannels(
  config: Config,
  { store, connectionString, secrets, pubsubAccount, launchRelay: launch, guestAt, gmail, log }: Given,
  closing: Closing,
): Promise<ChannelParts> {
  const settings = relaySettings(config, pubsubAccount);
  const files = createChannelFiles(channelFilesDir(config), { freeBytes: channelFilesFreeBytes(config) });
  // The relays have their own database connections, so they never take one that a request waits for.
  const own = await openStore({ connectionString, maxConnections, log });
  closing.push(() => own.close());
  const relays = startRelays({
    ...settings,
    store: own.relay,
    notices: own.mailboxNotices,
    secrets,
    files,
    launch,
    log,
  });
  closing.push(() => relays.close());
  return {
    store: store.channels,
    turns: store.channelTurns,
    oauthSessions: store.oauthSessions,
    files,
    guestFiles: createGuestFiles(guestAt),
    check: relays.check,
    gmail: gmail ?? (await gmailConsent(settings)),
    bounds: { turnMs: config.chatTimeoutMs },
  };
}

/** Null if the operator has no client at Google. Google's library is loaded only with one. */
async function gmailConsent({ google, urls }: ReturnType<typeof relaySettings>): Promise<GmailConsent | null> {
  if (google === null) return null;
  const { createGmailConsent } = await import('@lodge/channels/gmail');
  const { clientId, clientSecret } = google;
  return createGmailConsent({ clientId, clientSecret, endpoints: googleEndpoints(urls) });
}
