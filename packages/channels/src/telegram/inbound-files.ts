import { asObject } from '@lodge/domain';
import type { Json } from '@lodge/domain';
import type { InboundFile } from '@lodge/ports';
import { fileName, textOf } from '../shared/plain.ts';

interface FileField {
  readonly field: string;
  readonly kind: InboundFile['kind'];
  /** Where the message does not say. */
  readonly mediaType: string;
  readonly extension: string;
}

/** The first that is there counts: an animation is a document as well. */
const fields: readonly FileField[] = [
  { field: 'voice', kind: 'voice', mediaType: 'audio/ogg', extension: 'ogg' },
  { field: 'audio', kind: 'file', mediaType: 'audio/mpeg', extension: 'mp3' },
  { field: 'video', kind: 'file', mediaType: 'video/mp4', extension: 'mp4' },
  { field: 'video_note', kind: 'file', mediaType: 'video/mp4', extension: 'mp4' },
  { field: 'animation', kind: 'file', mediaType: 'video/mp4', extension: 'mp4' },
  { field: 'document', kind: 'file', mediaType: 'application/octet-stream', extension: 'bin' },
];

/** The shape of Telegram's ids of files; it is all of a `ref`. */
export const isFileId = (ref: string): boolean => /^[A-Za-z0-9_-]{1,400}$/.test(ref);

/** A message has one file; several at once come as several messages. */
export function filesOf(message: Json, messageId: number): InboundFile[] {
  const photo = photoOf(message['photo']);
  if (photo)
    return [fileOf(photo, { field: 'photo', kind: 'image', mediaType: 'image/jpeg', extension: 'jpg' }, messageId)];
  for (const field of fields) {
    const stored = storedOf(message[field.field]);
    if (stored) return [fileOf(stored, field, messageId)];
  }
  return [];
}

/** Sizes of one picture come smallest first. */
function photoOf(sizes: unknown): Json | null {
  return Array.isArray(sizes) ? storedOf(sizes.at(-1)) : null;
}

function storedOf(value: unknown): Json | null {
  const stored = asObject(value);
  const id = stored?.['file_id'];
  return stored && typeof id === 'string' && isFileId(id) ? stored : null;
}

function fileOf(stored: Json, { field, kind, mediaType, extension }: FileField, messageId: number): InboundFile {
  const type = textOf(stored['mime_type'], 100) || mediaType;
  const size = stored['file_size'];
  return {
    ref: stored['file_id'] as string,
    name: fileName(stored['file_name'], `${field}-${messageId}.${extension}`),
    mediaType: type,
    bytes: typeof size === 'number' && Number.isSafeInteger(size) && size >= 0 ? size : null,
    kind: field === 'document' && type.startsWith('image/') ? 'image' : kind,
  };
}
