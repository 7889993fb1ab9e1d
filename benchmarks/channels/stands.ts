/** A stub of each platform, with accounts. */
import type { ChannelName } from '@lodge/domain';
import type { ChannelSecrets } from '@lodge/ports';
import { startDiscordStub } from '@lodge/testkit/discord';
import { startGoogleStub } from '@lodge/testkit/google';
import { startSlackStub } from '@lodge/testkit/slack';
import { startTelegramStub } from '@lodge/testkit/telegram';
import { startWhatsAppStub } from '@lodge/testkit/whatsapp';
import { readConfig } from '../../apps/server/src/config/config.ts';
import { setUpsOf } from '../../apps/server/src/relay/platforms.ts';
import type { PlatformSetUps } from '../../apps/server/src/relay/platforms.ts';

export interface Stand {
  readonly platforms: PlatformSetUps;
  /** Credentials of each account. */
  readonly credentials: readonly ChannelSecrets[];
  /** Pairs an account by the code that it shows. */
  readonly scan?: (account: number, qr: string) => void;
}

const setUp = (settings: Readonly<Record<string, string>>): PlatformSetUps => setUpsOf(readConfig(settings));
const many = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));
const originOf = (url: string): string => new URL(url).origin;

export const stands: Readonly<Record<ChannelName, (accounts: number) => Promise<Stand>>> = {
  async telegram(accounts) {
    const stub = await startTelegramStub();
    const credentials = many(accounts, () => ({ botToken: stub.bot().token }));
    return { platforms: setUp({ LODGE_TELEGRAM_API: stub.apiRoot }), credentials };
  },
  async slack(accounts) {
    const stub = await startSlackStub();
    const apps = many(accounts, () => stub.addApp());
    const credentials = apps.map(({ appToken, botToken }) => ({ appToken, botToken }));
    return { platforms: setUp({ LODGE_SLACK_API: originOf(stub.apiUrl) }), credentials };
  },
  async discord(accounts) {
    const stub = await startDiscordStub();
    const credentials = many(accounts, () => ({ botToken: stub.addBot().token }));
    return { platforms: setUp({ LODGE_DISCORD_API: originOf(stub.apiUrl) }), credentials };
  },
  async whatsapp(accounts) {
    const stub = await startWhatsAppStub();
    const phones = many(accounts, (n) => stub.account(String(15_550_000_000 + n), 'Agent'));
    const platforms = setUp({
      LODGE_WHATSAPP_URL: stub.url,
      LODGE_WHATSAPP_MEDIA: stub.media.url,
      LODGE_WHATSAPP_ROOT: stub.root.toString('hex'),
    });
    return { platforms, credentials: many(accounts, () => ({})), scan: (n, qr) => stub.scan(phones[n]!, qr) };
  },
  async gmail(accounts) {
    const stub = await startGoogleStub();
    const credentials = many(accounts, (n) => ({ refreshToken: stub.consent(`agent-${n}@example.com`) }));
    const { clientId, clientSecret } = stub.client;
    const platforms = setUp({
      LODGE_GOOGLE_API: stub.url,
      LODGE_GOOGLE_OAUTH: stub.url,
      LODGE_GOOGLE_CLIENT_ID: clientId,
      LODGE_GOOGLE_CLIENT_SECRET: clientSecret,
    });
    return { platforms, credentials };
  },
};
