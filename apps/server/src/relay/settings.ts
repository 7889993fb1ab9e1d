import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import type { RelaysOptions } from './relays.ts';

/** What of the configuration relay processes get. */
export const relaySettings = (config: Config): Pick<RelaysOptions, 'urls' | 'filesDir' | 'instance' | 'logLevel'> => ({
  urls: {
    telegram: config.telegramApi,
    slack: config.slackApi,
    discord: config.discordApi,
    gmail: config.googleApi,
    googleOauth: config.googleOauth,
    whatsapp: config.whatsappUrl,
  },
  filesDir: channelFilesDir(config),
  instance: config.instance,
  logLevel: config.logLevel,
});

export const channelFilesDir = ({ dataDir }: Config): string => join(dataDir, 'channel-files');
