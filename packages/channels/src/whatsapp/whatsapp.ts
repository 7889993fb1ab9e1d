/**
 * WhatsApp by a linked device, as WhatsApp Web is one. Not an interface that WhatsApp offers: accounts that use it can be banned.
 * It answers those who write and opens no chats.
 */
import { Semaphore } from '@lodge/domain';
import type { Platform } from '@lodge/ports';
import { whatsAppRoot } from './device/certificate.ts';
import { WhatsAppConnection } from './connection.ts';
import { maxTextChars, render } from './dialect/render.ts';
import { maxFileInBytes } from './media/download.ts';
import { MediaHost } from './media/host.ts';
import { maxFileOutBytes } from './media/upload.ts';
import { usualTimings } from './timings.ts';
import type { WhatsAppTimings } from './timings.ts';

export interface WhatsAppOptions {
  /** From the operator's configuration alone. `ws:` only to this host itself: what protects the handshake is TLS. */
  readonly url?: string;
  /** Where files lie, without a path; of the operator alone, too. `http:` only to this host itself. */
  readonly mediaUrl?: string;
  /** Public key of the root of the server's certificates, 32 bytes. Default: WhatsApp's. */
  readonly certificateRoot?: Uint8Array;
  readonly timings?: Partial<WhatsAppTimings>;
}

const usualUrl = 'wss://web.whatsapp.com/ws/chat';
const usualMediaUrl = 'https://mmg.whatsapp.net';
/** Handshakes at a time: each takes some 40 ms of the processor, and after an outage all connections come at once. */
const maxHandshakes = 4;

export function createWhatsApp(options: WhatsAppOptions = {}): Platform {
  const url = checkedUrl(options.url ?? usualUrl, 'ws');
  const mediaUrl = checkedUrl(options.mediaUrl ?? usualMediaUrl, 'http');
  const root = options.certificateRoot ?? whatsAppRoot;
  if (root.length !== 32) throw new Error('the certificate root of WhatsApp has 32 bytes');
  const timings = { ...usualTimings, ...options.timings };
  const handshakes = new Semaphore(maxHandshakes);
  const media = new MediaHost(mediaUrl, timings);
  return {
    channel: 'whatsapp',
    limits: {
      textChars: maxTextChars,
      fileInBytes: maxFileInBytes,
      fileOutBytes: maxFileOutBytes,
      typingEveryMs: 10_000,
    },
    sendsOnce: true,
    verify: null,
    render,
    connect: (_account, host) => new WhatsAppConnection({ url, root, media, timings, handshakes }, host),
  };
}

function checkedUrl(given: string, scheme: 'ws' | 'http'): URL {
  const url = URL.parse(given);
  const isLoopback = url !== null && ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname);
  if (url?.protocol === `${scheme}s:` || (url?.protocol === `${scheme}:` && isLoopback)) return url;
  throw new Error(`an address of WhatsApp must begin with ${scheme}s://, or be ${scheme}:// to this host itself`);
}
