/** The adapters of a relay process. Only those that it needs are loaded: some take tens of MiB. */
import type { ChannelName } from '@lodge/domain';
import type { Platform } from '@lodge/ports';
import type { PlatformUrls } from './protocol.ts';

type Load = (urls: PlatformUrls) => Promise<Platform>;

/** A channel that is missing here is not connected by anybody. */
const loads: Partial<Readonly<Record<ChannelName, Load>>> = {
  telegram: async ({ telegram }) => {
    const { createTelegram } = await import('@lodge/channels/telegram');
    return createTelegram(telegram === null ? {} : { apiRoot: telegram });
  },
};

export async function loadPlatforms(
  channels: readonly ChannelName[],
  urls: PlatformUrls,
): Promise<readonly Platform[]> {
  return Promise.all(channels.flatMap((channel) => loads[channel]?.(urls) ?? []));
}
