import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { ownFolderOf } from '../machine-host/control-user.ts';
import type { GoogleClient } from './protocol.ts';
import type { RelaysOptions } from './relays.ts';

/** What of the configuration relay processes get. */
export const relaySettings = (
  config: Config,
): Pick<RelaysOptions, 'urls' | 'google' | 'filesDir' | 'instance' | 'logLevel'> => ({
  urls: {
    telegram: config.telegramApi,
    slack: config.slackApi,
    discord: config.discordApi,
    gmail: config.googleApi,
    googleOauth: config.googleOauth,
    googleConsent: config.googleConsent,
    whatsapp: config.whatsappUrl,
    whatsappMedia: config.whatsappMedia,
    whatsappRoot: config.whatsappRoot,
  },
  google: googleClientOf(config),
  filesDir: channelFilesDir(config),
  instance: config.instance,
  logLevel: config.logLevel,
});

export const channelFilesDir = (config: Config): string => join(ownFolderOf(config), 'channel-files');

/** Null where the operator has none. */
export function googleClientOf(config: Config): GoogleClient | null {
  const { googleClientId: clientId, googleClientSecret: clientSecret } = config;
  if (clientId === null || clientSecret === null) return null;
  return { clientId, clientSecret, pollMs: config.gmailPollSeconds * 1000 };
}
