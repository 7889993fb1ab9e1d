import { join } from 'node:path';
import type { ServiceAccount } from '@lodge/channels/gmail';
import type { Config } from '../config/config.ts';
import { ownFolderOf } from '../machine-host/control-user.ts';
import type { GoogleClient, GooglePush } from './protocol.ts';
import type { RelaysOptions } from './relays.ts';

/** The settings that relay processes get. */
export const relaySettings = (
  config: Config,
  pubsubAccount: ServiceAccount | null,
): Pick<RelaysOptions, 'urls' | 'google' | 'instance' | 'logLevel'> => ({
  urls: {
    telegram: config.telegramApi,
    slack: config.slackApi,
    discord: config.discordApi,
    gmail: config.googleApi,
    googleOauth: config.googleOauth,
    googleConsent: config.googleConsent,
    googlePubsub: config.googlePubsub,
    whatsapp: config.whatsappUrl,
    whatsappMedia: config.whatsappMedia,
    whatsappRoot: config.whatsappRoot,
  },
  google: googleClientOf(config, pubsubAccount),
  instance: config.instance,
  logLevel: config.logLevel,
});

/** Half a floor above the floor of agents: files stop well before anybody is paused for lack of disk space. */
export const channelFilesFreeBytes = ({ diskFloorMib }: Config): number => diskFloorMib * 1.5 * 2 ** 20;

export const channelFilesDir = (config: Config): string => join(ownFolderOf(config), 'channel-files');

/** Null if the operator has none. */
export function googleClientOf(config: Config, pubsubAccount: ServiceAccount | null): GoogleClient | null {
  const { googleClientId: clientId, googleClientSecret: clientSecret } = config;
  if (clientId === null || clientSecret === null) return null;
  const push = pushOf(config, pubsubAccount);
  return { clientId, clientSecret, pollMs: config.gmailPollSeconds * 1000, push };
}

function pushOf(config: Config, account: ServiceAccount | null): GooglePush | null {
  const { gmailPubsubTopic: topic, gmailPubsubSubscription: subscription } = config;
  return topic === null || subscription === null || account === null ? null : { topic, subscription, account };
}
