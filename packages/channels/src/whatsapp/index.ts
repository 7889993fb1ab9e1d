import type { PlatformDefinition } from '@lodge/ports';
import { fail, matching, optional, origin } from '@lodge/ports/settings';

const settings = {
  media: optional(
    'LODGE_WHATSAPP_MEDIA',
    'http(s) URL without a path',
    '`https://mmg.whatsapp.net`',
    'Where files of WhatsApp are fetched and put. `http` only to this machine.',
    mediaOrigin,
  ),
  root: optional(
    'LODGE_WHATSAPP_ROOT',
    '64 hex digits',
    "WhatsApp's own",
    "Public key of the root of WhatsApp's certificates, for a server of one's own.",
    matching(/^[0-9a-f]{64}$/, '64 hex digits'),
  ),
  url: optional(
    'LODGE_WHATSAPP_URL',
    'ws(s) URL',
    '`wss://web.whatsapp.com/ws/chat`',
    'Where WhatsApp is reached. TLS protects the connection: `ws` only to this machine.',
    webSocketUrl,
  ),
};

export const whatsapp: PlatformDefinition<typeof settings> = {
  settings,
  // A handshake keeps its processor busy for tens of milliseconds, and a hundred of them must not delay others' heartbeats.
  isAlone: true,
  async open({ url, media, root }) {
    const { createWhatsApp } = await import('./whatsapp.ts');
    return createWhatsApp({
      ...(url !== null && { url }),
      ...(media !== null && { mediaUrl: media }),
      ...(root !== null && { certificateRoot: Buffer.from(root, 'hex') }),
    });
  },
};

function webSocketUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : fail('a URL such as wss://web.whatsapp.com/ws/chat');
  if (url.protocol !== 'wss:' && !(url.protocol === 'ws:' && isHere(url)))
    fail('a wss URL, or a ws URL of this machine');
  if (url.username || url.password || url.hash) fail('a URL without a user or a fragment');
  return url.href;
}

function mediaOrigin(text: string): string {
  const url = new URL(origin(text));
  if (url.protocol !== 'https:' && !isHere(url)) fail('an https URL, or an http URL of this machine');
  return url.origin;
}

const isHere = ({ hostname }: URL): boolean => ['127.0.0.1', '[::1]', 'localhost'].includes(hostname);
