/** Pictures as models take them: told by their bytes, never unpacked here. */

const mib = 1024 * 1024;

/** Of the pictures that one turn hands to the model; what is beyond them stays a file. */
export const pictureBounds = {
  count: 4,
  /** The least that a provider takes is 5 MiB of base64 for each (Anthropic). */
  bytes: 3.75 * mib,
  /** 6 MiB of base64: the broker takes 8 MiB for a request with all that was said before. */
  allBytes: 4.5 * mib,
  /** Of all turns of this process that are on their way to their agents. */
  heldBytes: 64 * mib,
  /** Three turns at once. */
  heldOfAgent: 13.5 * mib,
  heldOfAccount: 32 * mib,
} as const;

export type PictureType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';

/** A picture on its way to the model. */
export interface Picture {
  readonly type: PictureType;
  readonly base64: string;
}

/** So many bytes at the beginning tell what a file is. */
export const headBytes = 16;

/** What a file is by its first bytes; null where it is none of these. What its name and its sender say of it proves nothing. */
export function pictureTypeOf(head: Uint8Array): PictureType | null {
  const text = Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, headBytes)).toString('latin1');
  if (text.startsWith('\x89PNG\r\n\x1a\n\0\0\0\rIHDR')) return 'image/png';
  if (text.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (text.startsWith('GIF87a') || text.startsWith('GIF89a')) return 'image/gif';
  return text.startsWith('RIFF') && text.startsWith('WEBP', 8) ? 'image/webp' : null;
}
