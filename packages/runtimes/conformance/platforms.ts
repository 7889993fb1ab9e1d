/**
 * The stubs of the messaging platforms, each in the form in which a Lodge is pointed at it, and one person on each who
 * writes to an agent.
 */
import assert from 'node:assert/strict';
import type { ChannelName } from '@lodge/domain';
import { ConsentBrowser } from '@lodge/testkit/consent-browser';
import { startDiscordStub } from '@lodge/testkit/discord';
import { startGoogleStub } from '@lodge/testkit/google';
import { startSlackStub } from '@lodge/testkit/slack';
import { startTelegramStub } from '@lodge/testkit/telegram';
import { startWhatsAppStub } from '@lodge/testkit/whatsapp';
import { until } from './until.ts';
import type { Service } from '@lodge/testkit/service';

/** An agent of a Lodge. */
interface Tested {
  readonly id: string;
  readonly world: { readonly service: Service };
}

export interface ChannelFile {
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
  readonly as: 'document' | 'photo' | 'voice';
}

/** A person in a direct conversation with one agent. */
export interface Correspondent {
  /** Configures the channel and does a person's part of connecting it. */
  connect(agent: Tested): Promise<void>;
  /** Writes a message; only on Telegram with a file. */
  write(text: string, file?: ChannelFile): Promise<void>;
  /** Returns the agent's texts, oldest first. */
  answers(): readonly string[];
  /** Secrets that may only be in the sealed database. */
  readonly secrets: readonly string[];
}

export interface Platforms {
  readonly env: Readonly<Record<string, string>>;
  correspondent(channel: ChannelName): Correspondent;
  close(): Promise<void>;
}

/** Bound for a busy host, because a slow connection must not refuse a version. */
const connectTimeoutMs = 300_000;
const openAccess = { mode: 'open' };
const redirectUris: string[] = [];

export async function startPlatforms(): Promise<Platforms> {
  const telegram = await startTelegramStub();
  const slack = await startSlackStub();
  const discord = await startDiscordStub();
  const whatsapp = await startWhatsAppStub();
  const client = { clientId: 'client.apps.example.com', clientSecret: 'GOCSPX-stub-secret-of-client', redirectUris };
  const google = await startGoogleStub({ client });
  const all = [telegram, slack, discord, whatsapp, google];

  const byToken = (channel: ChannelName, credentials: Readonly<Record<string, string>>) => ({
    secrets: Object.values(credentials),
    connect: async (agent: Tested): Promise<void> => {
      await put(agent, channel, { ...credentials, access: openAccess });
      await connected(agent, channel);
    },
  });

  const make: Readonly<Record<ChannelName, () => Correspondent>> = {
    telegram() {
      const bot = telegram.bot();
      return {
        ...byToken('telegram', { botToken: bot.token }),
        write: async (text, file) => void bot.userWrites({ text, ...(file && { file }) }),
        answers: () => bot.sent.map(({ text }) => text),
      };
    },
    slack() {
      const app = slack.addApp();
      const { appToken, botToken } = app;
      return {
        ...byToken('slack', { appToken, botToken }),
        write: async (text) => void slack.write(app, { channel: 'D0000001', kind: 'im', text }),
        answers: () => app.sent.map(({ text }) => text),
      };
    },
    discord() {
      const bot = discord.addBot();
      const channel = { id: '500000000000000001', type: 1 as const };
      return {
        ...byToken('discord', { botToken: bot.token }),
        write: async (text) => void discord.write(bot, { channel, text, from: {} }),
        answers: () => bot.sent.map(({ message }) => message.content),
      };
    },
    whatsapp() {
      const account = whatsapp.account('15551000001', 'Agent');
      const person = whatsapp.person('15552000001', 'Ann');
      return {
        secrets: [],
        async connect(agent) {
          await put(agent, 'whatsapp', { enabled: true, access: openAccess });
          let last = '';
          await until('WhatsApp is paired', connectTimeoutMs, async () => {
            const { status, qr } = (await call(agent, 'GET', 'whatsapp/pair')) as { status: string; qr: string | null };
            if (qr && qr !== last) whatsapp.scan(account, (last = qr));
            return status === 'connected';
          });
          await connected(agent, 'whatsapp');
        },
        write: async (text) => void (await whatsapp.write(person, account, text, {})),
        answers: () => person.shown.map(({ text }) => text),
      };
    },
    gmail() {
      const address = 'agent@example.com';
      const mailbox = google.mailbox(address);
      let first: { readonly messageId: string } | null = null;
      return {
        secrets: [client.clientSecret],
        async connect(agent) {
          await put(agent, 'gmail', { access: openAccess });
          redirectUris.push(`${new URL(agent.world.service.baseUrl).origin}/oauth/gmail/callback`);
          const begun = await call(agent, 'POST', 'gmail/oauth/start', { login_hint: address });
          const browser = new ConsentBrowser();
          const asked = await browser.ask(await browser.agree(begun['authorization_url'] as string));
          const back = await browser.ask(asked.headers.get('location')!);
          assert.equal(back.status, 200, back.text);
          await connected(agent, 'gmail');
        },
        async write(text) {
          const references = first ? { references: [first.messageId] } : {};
          const mail = mailbox.deliver({ from: 'Ann <ann@example.org>', subject: 'Question', text, ...references });
          first ??= mail;
        },
        answers: () => mailbox.sent.map(({ raw }) => raw),
      };
    },
  };

  return {
    env: {
      LODGE_TELEGRAM_API: telegram.apiRoot,
      LODGE_SLACK_API: new URL(slack.apiUrl).origin,
      LODGE_DISCORD_API: new URL(discord.apiUrl).origin,
      LODGE_GOOGLE_API: google.url,
      LODGE_GOOGLE_OAUTH: google.url,
      LODGE_GOOGLE_CONSENT: google.url,
      LODGE_GOOGLE_CLIENT_ID: client.clientId,
      LODGE_GOOGLE_CLIENT_SECRET: client.clientSecret,
      LODGE_GMAIL_POLL_SECONDS: '1',
      LODGE_WHATSAPP_URL: whatsapp.url,
      LODGE_WHATSAPP_MEDIA: whatsapp.media.url,
      LODGE_WHATSAPP_ROOT: Buffer.from(whatsapp.root).toString('hex'),
    },
    correspondent: (channel) => make[channel](),
    async close() {
      await Promise.all(all.map((stub) => stub.close()));
    },
  };
}

async function call(agent: Tested, method: string, path: string, body?: object): Promise<Record<string, unknown>> {
  const reply = await agent.world.service.call(method, `/agents/${agent.id}/channels/${path}`, body);
  assert.equal(reply.status, 200, `${method} ${path}: ${JSON.stringify(reply.body)}`);
  return reply.body as Record<string, unknown>;
}

async function put(agent: Tested, channel: ChannelName, body: object): Promise<void> {
  const reply = await agent.world.service.call('PUT', `/agents/${agent.id}/channels/${channel}`, body);
  assert.ok(reply.status === 200 || reply.status === 201, JSON.stringify(reply.body));
}

async function connected(agent: Tested, channel: ChannelName): Promise<void> {
  let last = {};
  await until(`${channel} is connected`, connectTimeoutMs, async () => {
    last = await call(agent, 'GET', channel);
    return (last as { status: string }).status === 'connected';
  }).catch(() => assert.fail(`${JSON.stringify(last)}\n${agent.world.service.output.slice(-4000)}`));
}
