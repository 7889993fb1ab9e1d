/** The platforms as the operator has set them up, and their adapters in a relay process. */
import { definitions } from '@lodge/channels';
import { channelNames } from '@lodge/domain';
import type { ChannelName } from '@lodge/domain';
import type { GmailConsent, Platform, PlatformParts, PlatformValues } from '@lodge/ports';
import type { Config } from '../config/config.ts';

/** By channel, the values that its definition takes. They may be secret. */
export type PlatformSetUps = Readonly<Record<ChannelName, PlatformValues>>;

/** All that only root could read for a platform, by channel. */
export type PlatformFiles = Partial<PlatformSetUps>;

/** Root runs it. Rejects with advice to the operator. */
export async function readPlatformFiles({ platforms }: Pick<Config, 'platforms'>): Promise<PlatformFiles> {
  const files: Partial<Record<ChannelName, PlatformValues>> = {};
  for (const channel of channelNames) {
    const read = await definitions[channel].readAsRoot?.(platforms[channel]);
    if (read !== undefined) files[channel] = read;
  }
  return files;
}

export const setUpsOf = ({ platforms }: Pick<Config, 'platforms'>, read: PlatformFiles = {}): PlatformSetUps =>
  Object.fromEntries(
    channelNames.map((channel) => [channel, { ...platforms[channel], ...read[channel] }]),
  ) as PlatformSetUps;

/** The adapters of those that are set up. */
export async function loadPlatforms(
  channels: readonly ChannelName[],
  setUps: PlatformSetUps,
  parts: PlatformParts,
): Promise<readonly Platform[]> {
  const opened = await Promise.all(channels.map((channel) => definitions[channel].open(setUps[channel], parts)));
  return opened.filter((platform) => platform !== null);
}

/** Null if the operator has set up no platform whose accounts are consented to. */
export async function loadConsent(setUps: PlatformSetUps): Promise<GmailConsent | null> {
  for (const channel of channelNames) {
    const consent = await definitions[channel].consent?.(setUps[channel]);
    if (consent) return consent;
  }
  return null;
}
