/** A stub of each platform, with accounts. */
import type { ChannelName } from '@lodge/domain';
import type { ChannelSecrets } from '@lodge/ports';
import { startDiscordStub } from '@lodge/testkit/discord';
import { startGoogleStub } from '@lodge/testkit/google';
import { startSlackStub } from '@lodge/testkit/slack';
import { startTelegramStub } from '@lodge/testkit/telegram';
import { startWhatsAppStub } from '@lodge/testkit/whatsapp';
import type { GoogleClient, PlatformUrls } from '../../apps/server/src/relay/protocol.ts';

export interface Stand {
  readonly urls: PlatformUrls;
  readonly google: GoogleClient | null;
  /** Credentials of each account. */
  readonly credentials: readonly ChannelSecrets[];
  /** Pairs an account by the code that it shows. */
  readonly scan?: (account: number, qr: string) => void;
}

export const noUrls: PlatformUrls = {
  telegram: null,
  slack: null,
  discord: null,
  gmail: null,
  googleOauth: null,
  googleConsent: null,
  googlePubsub: null,
  whatsapp: null,
  whatsappMedia: null,
  whatsappRoot: null,
};

const many = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));
const originOf = (url: string): string => new URL(url).origin;

export const stands: Readonly<Record<ChannelName, (accounts: number) => Promise<Stand>>> = {
  async telegram(accounts) {
    const stub = await startTelegramStub();
    const credentials = many(accounts, () => ({ botToken: stub.bot().token }));
    return { urls: { ...noUrls, telegram: stub.apiRoot }, google: null, credentials };
  },
  async slack(accounts) {
    const stub = await startSlackStub();
    const apps = many(accounts, () => stub.addApp());
    const credentials = apps.map(({ appToken, botToken }) => ({ appToken, botToken }));
    return { urls: { ...noUrls, slack: originOf(stub.apiUrl) }, google: null, credentials };
  },
  async discord(accounts) {
    const stub = await startDiscordStub();
    const credentials = many(accounts, () => ({ botToken: stub.addBot().token }));
    return { urls: { ...noUrls, discord: originOf(stub.apiUrl) }, google: null, credentials };
  },
  async whatsapp(accounts) {
    const stub = await startWhatsAppStub();
    const phones = many(accounts, (n) => stub.account(String(15_550_000_000 + n), 'Agent'));
    const urls = {
      ...noUrls,
      whatsapp: stub.url,
      whatsappMedia: stub.media.url,
      whatsappRoot: stub.root.toString('hex'),
    };
    return { urls, google: null, credentials: many(accounts, () => ({})), scan: (n, qr) => stub.scan(phones[n]!, qr) };
  },
  async gmail(accounts) {
    const stub = await startGoogleStub();
    const credentials = many(accounts, (n) => ({ refreshToken: stub.consent(`agent-${n}@example.com`) }));
    const google = { ...stub.client, pollMs: 15_000, push: null };
    return { urls: { ...noUrls, gmail: stub.url, googleOauth: stub.url }, google, credentials };
  },
};
