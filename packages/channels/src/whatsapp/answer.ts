/** A part of an answer as WhatsApp's message. In groups the first part shows what it answers. */
import { isJsonObject } from '@lodge/domain';
import type { Json } from '@lodge/domain';
import type { SendTarget } from '@lodge/ports';
import { fileName } from '../shared/plain.ts';
import type { Content } from './device/library.ts';
import type { FilePart, Uploaded } from './media/upload.ts';
import type { Quoted } from './message.ts';

/** No preview of a link is made: that would fetch what the agent names. */
export function answerOf(text: string, to: SendTarget): Content {
  return { extendedTextMessage: { text, ...contextOf(to) } };
}

/** No small preview of a picture is made: that would decode what the agent's machine made. */
export function fileAnswerOf({ name, mediaType, bytes }: FilePart, sent: Uploaded, to: SendTarget): Content {
  const file = {
    ...(sent.url !== null && { url: sent.url }),
    directPath: sent.path,
    mediaKey: sent.key,
    mediaKeyTimestamp: Math.floor(Date.now() / 1000),
    mimetype: mediaType,
    fileSha256: sent.digests.plain,
    fileEncSha256: sent.digests.sealed,
    fileLength: bytes,
    ...contextOf(to),
  };
  if (sent.kind === 'image') return { imageMessage: file };
  const plain = fileName(name, 'file');
  return { documentMessage: { ...file, fileName: plain, title: plain } };
}

function contextOf(to: SendTarget) {
  const quoted = to.conversationKind === 'group' && to.index === 0 ? quotedIn(to.replyTo) : null;
  if (!quoted) return {};
  const quotedMessage = { conversation: quoted.text };
  return { contextInfo: { stanzaId: quoted.id, participant: quoted.author, quotedMessage } };
}

function quotedIn(replyTo: Json | null): Quoted | null {
  if (!isJsonObject(replyTo)) return null;
  const { id, author, text } = replyTo as Record<string, Json>;
  if (typeof id !== 'string' || typeof author !== 'string' || typeof text !== 'string') return null;
  return { id, author, text };
}
