/** The smallest adapter: it asks its platform for messages, for ever, and acknowledges them once they are committed. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChannelName } from '@lodge/domain';
import { ChannelFailure, SendFailure } from '@lodge/ports';
import type { ChannelConnection, ChannelSecrets, ConnectionHost, Platform } from '@lodge/ports';
import type { Letter } from './loft.ts';

const askEveryMs = 20;

export function createPigeon(loft: string): Platform {
  const call = (
    path: string,
    { botToken = '' }: ChannelSecrets,
    body?: object,
    signal?: AbortSignal,
  ): Promise<Response> =>
    fetch(`${loft}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'x-token': botToken },
      ...(body && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    });
  return {
    channel: 'pigeon' as ChannelName,
    limits: { textChars: 500, fileInBytes: 0, fileOutBytes: 0, typingEveryMs: null },
    sendsOnce: false,
    async verify(credentials, signal) {
      const answer = await call('/me', credentials, undefined, signal);
      if (!answer.ok) throw new ChannelFailure({ code: 'invalid_credentials', message: 'Pigeon knows no such token.' });
      return { identity: { id: 'p1', name: 'A pigeon' }, accountKey: 'p1' };
    },
    render: (text) => [{ text, format: null }],
    connect({ credentials }, host): ChannelConnection {
      const ending = new AbortController();
      const running = carry(
        () => call('/letters', credentials),
        (id) => call('/taken', credentials, { id }),
        host,
        ending.signal,
      );
      return {
        async send({ conversationId: to }, part, _key, signal) {
          if (part.kind === 'file') throw new SendFailure('refused', 'A pigeon carries no files.');
          const answer = await call('/sent', credentials, { to, text: part.text }, signal);
          if (!answer.ok) throw new SendFailure('refused', 'The loft refused it.');
          return { id: await answer.text() };
        },
        typing: async () => undefined,
        open: () => Promise.reject(new Error('a pigeon carries no files')),
        async close() {
          ending.abort();
          await running;
        },
      };
    },
  };
}

async function carry(
  waiting: () => Promise<Response>,
  acknowledge: (id: string) => Promise<Response>,
  host: ConnectionHost,
  signal: AbortSignal,
): Promise<void> {
  host.changed({ status: 'connected', identity: { id: 'p1', name: 'A pigeon' } });
  while (!signal.aborted) {
    for (const { id, from, text } of (await (await waiting()).json()) as readonly Letter[]) {
      const conversation = { id: from, kind: 'direct', title: null } as const;
      const sender = { id: from, name: from, isBot: false };
      const message = { id, conversation, sender, addressed: true, text, sentAt: new Date(), files: [], replyTo: null };
      await host.received([message]);
      await acknowledge(id);
    }
    await sleep(askEveryMs, undefined, { signal }).catch(() => undefined);
  }
}
