/** Where messaging platforms are reached. Of the operator alone: a tenant could send our requests into the host's network. */
import { optional } from './setting.ts';
import { fail, origin } from './values.ts';

const platform = (name: string, url: string, what: string) =>
  optional(
    name,
    'http(s) URL without a path',
    `\`${url}\``,
    `Where ${what} is reached, when that is not the platform itself (a proxy, a server of one's own).`,
    origin,
  );

export const channelSettings = {
  telegramApi: platform('LODGE_TELEGRAM_API', 'https://api.telegram.org', "Telegram's Bot API"),
  slackApi: platform('LODGE_SLACK_API', 'https://slack.com', "Slack's Web API"),
  discordApi: platform('LODGE_DISCORD_API', 'https://discord.com', "Discord's REST API"),
  googleApi: platform('LODGE_GOOGLE_API', 'https://gmail.googleapis.com', 'the Gmail API'),
  googleOauth: platform('LODGE_GOOGLE_OAUTH', 'https://oauth2.googleapis.com', "Google's OAuth"),
  whatsappUrl: optional(
    'LODGE_WHATSAPP_URL',
    'ws(s) URL',
    '`wss://web.whatsapp.com/ws/chat`',
    'Where WhatsApp is reached. What protects the connection is TLS: `ws` only to this machine.',
    webSocketUrl,
  ),
} as const;

function webSocketUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : fail('a URL such as wss://web.whatsapp.com/ws/chat');
  const isHere = ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname);
  if (url.protocol !== 'wss:' && !(url.protocol === 'ws:' && isHere)) fail('a wss URL, or a ws URL of this machine');
  if (url.username || url.password || url.hash) fail('a URL without a user or a fragment');
  return url.href;
}
