/** The adapters of a relay process. Only those that it needs are loaded: some take tens of MiB. */
import type { ChannelName } from '@lodge/domain';
import type { Log, MailboxNotices, Platform } from '@lodge/ports';
import { googleEndpoints } from './google.ts';
import type { GoogleClient, PlatformUrls } from './protocol.ts';

/** Dependencies that a relay gives its adapters. */
export interface AdapterParts {
  readonly notices: MailboxNotices;
  readonly log: Log;
}

type Load = (urls: PlatformUrls, google: GoogleClient | null, parts: AdapterParts) => Promise<Platform | null>;

const loads: Readonly<Record<ChannelName, Load>> = {
  telegram: async ({ telegram }) => {
    const { createTelegram } = await import('@lodge/channels/telegram');
    return createTelegram(telegram === null ? {} : { apiRoot: telegram });
  },
  slack: async ({ slack }) => {
    const { createSlack } = await import('@lodge/channels/slack');
    return createSlack(slack === null ? {} : { apiUrl: `${slack}/api/` });
  },
  discord: async ({ discord }) => {
    const { createDiscord } = await import('@lodge/channels/discord');
    return createDiscord(discord === null ? {} : { apiUrl: `${discord}/api` });
  },
  whatsapp: async ({ whatsapp, whatsappMedia, whatsappRoot }) => {
    const { createWhatsApp } = await import('@lodge/channels/whatsapp');
    const certificateRoot = whatsappRoot === null ? null : Buffer.from(whatsappRoot, 'hex');
    return createWhatsApp({
      ...(whatsapp !== null && { url: whatsapp }),
      ...(whatsappMedia !== null && { mediaUrl: whatsappMedia }),
      ...(certificateRoot && { certificateRoot }),
    });
  },
  gmail: async (urls, google, parts) => {
    // Without a client of the operator nobody can have consented.
    if (google === null) return null;
    const { createGmail } = await import('@lodge/channels/gmail');
    const { pollMs, push, ...client } = google;
    const pushed = push && { push: { ...push, ...parts } };
    return createGmail({ ...client, endpoints: googleEndpoints(urls), timings: { pollMs }, ...pushed });
  },
};

export async function loadPlatforms(
  channels: readonly ChannelName[],
  urls: PlatformUrls,
  google: GoogleClient | null,
  parts: AdapterParts,
): Promise<readonly Platform[]> {
  const platforms = await Promise.all(channels.map((channel) => loads[channel](urls, google, parts)));
  return platforms.filter((platform) => platform !== null);
}
