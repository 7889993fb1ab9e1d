/** Files that a message of WhatsApp brings, by references from which they can be fetched. */
import type { InboundFile } from '@lodge/ports';
import { fileName, plainName } from '../../shared/plain.ts';
import type { Content, MediaKind } from '../device/library.ts';
import { noRef, storedFileOf } from './refs.ts';
import type { Refs } from './refs.ts';

interface Media {
  readonly mimetype?: string | null;
  readonly fileLength?: unknown;
}

interface SentFacts {
  readonly name: string;
  readonly kind: InboundFile['kind'];
  /** Where the message does not say. */
  readonly mediaType: string;
}

/** Endings of files without a name, if their type is not the usual one of their kind. */
const extensions: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/webp': 'webp',
  'video/3gpp': '3gp',
  'audio/aac': 'aac',
  'audio/amr': 'amr',
  'audio/mp4': 'm4a',
  'audio/mpeg': 'mp3',
};

/** A message has one file; several at once come as several messages. */
export function filesOf(content: Content, refs: Refs): readonly InboundFile[] {
  const { imageMessage: image, audioMessage: audio, documentMessage: document } = content;
  const video = content.videoMessage ?? content.ptvMessage;
  if (image) return [fileOf('image', image, named('photo', image, 'image', 'image/jpeg', 'jpg'), refs)];
  if (audio) {
    const [name, kind] = audio.ptt ? (['voice', 'voice'] as const) : (['audio', 'file'] as const);
    return [fileOf('audio', audio, named(name, audio, kind, 'audio/ogg', 'ogg'), refs)];
  }
  if (video) return [fileOf('video', video, named('video', video, 'file', 'video/mp4', 'mp4'), refs)];
  if (document) {
    const name = fileName(document.fileName, 'document');
    const type = plainName(document.mimetype, '');
    const kind = type.startsWith('image/') ? 'image' : 'file';
    return [fileOf('document', document, { name, kind, mediaType: 'application/octet-stream' }, refs)];
  }
  return [];
}

function named(
  name: string,
  { mimetype }: Media,
  kind: InboundFile['kind'],
  mediaType: string,
  extension: string,
): SentFacts {
  const [type = ''] = plainName(mimetype, mediaType).split(';', 1);
  return { name: `${name}.${extensions[type.trim()] ?? extension}`, kind, mediaType };
}

function fileOf(as: MediaKind, media: Media, { name, kind, mediaType }: SentFacts, refs: Refs): InboundFile {
  const bytes = Number(media.fileLength);
  const stored = storedFileOf(as, media);
  return {
    ref: stored === null ? noRef : refs.of(stored),
    name,
    mediaType: plainName(media.mimetype, mediaType),
    bytes: Number.isSafeInteger(bytes) && bytes >= 0 ? bytes : null,
    kind,
  };
}
