import { createChannelFiles } from '@lodge/channels/files';
import { createConfirmationAnswers, createRelayStore } from '@lodge/engine';
import type { ChannelParts } from '@lodge/engine';
import type { Log, SecretBox } from '@lodge/ports';
import { createGuestFiles } from '@lodge/runtimes';
import { openStore } from '@lodge/store';
import type { Closing } from '../closing.ts';
import type { Config } from '../config/config.ts';
import type { LodgeOptions } from '../lodge-options.ts';
import type { Host } from '../machine-host/host.ts';
import { loadConsent } from './platforms.ts';
import { startRelays } from './relays.ts';
import { channelFilesDir, channelFilesFreeBytes, relaySettings } from './settings.ts';

interface Given
  extends Pick<Host, 'connectionString' | 'platformFiles' | 'launchRelay'>, Pick<LodgeOptions, 'guestAt' | 'gmail'> {
  readonly secrets: SecretBox;
  readonly log: Log;
}

/** Bound on the connections of both relay processes together. */
const maxConnections = 8;

/** Starts the processes that hold connections; returns the dependencies of the engine's channels. */
export async function startChannels(
  config: Config,
  { connectionString, secrets, platformFiles, launchRelay: launch, guestAt, gmail, log }: Given,
  closing: Closing,
): Promise<ChannelParts> {
  const settings = relaySettings(config, platformFiles);
  const files = createChannelFiles(channelFilesDir(config), { freeBytes: channelFilesFreeBytes(config) });
  // The relays have their own database connections, so they never take one that a request waits for.
  const own = await openStore({ connectionString, maxConnections, log });
  closing.push(() => own.close());
  const relays = startRelays({
    ...settings,
    store: createRelayStore(own, createConfirmationAnswers({ secrets })),
    notices: own.mailboxNotices,
    secrets,
    files,
    launch,
    log,
  });
  closing.push(() => relays.close());
  return {
    files,
    guestFiles: createGuestFiles(guestAt),
    check: relays.check,
    gmail: gmail ?? (await loadConsent(settings.platforms)),
    bounds: { turnMs: config.chatTimeoutMs },
  };
}
