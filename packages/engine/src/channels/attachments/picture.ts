/** Pictures as models accept them. Their bytes identify them, and nothing here decodes them. */

const mib = 1024 * 1024;

/** Bounds on the pictures that one turn gives the model; further ones stay files. */
export const pictureBounds = {
  count: 4,
  /** The smallest limit of a provider is 5 MiB of base64 for each (Anthropic). */
  bytes: 3.75 * mib,
  /** 6 MiB of base64: the broker accepts 8 MiB for a request with the whole conversation. */
  allBytes: 4.5 * mib,
  /** Bound on the pictures of all turns of this process on their way to agents. */
  heldBytes: 64 * mib,
  /** Room for three turns at once. */
  heldOfAgent: 13.5 * mib,
  heldOfAccount: 32 * mib,
} as const;

export type PictureType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';

/** A picture on its way to the model. */
export interface Picture {
  readonly type: PictureType;
  readonly base64: string;
}

/** Number of leading bytes that identify a file's type. */
export const headBytes = 16;

/** The type of a file by its first bytes; null where it is none of these. The file's name and its sender prove nothing. */
export function pictureTypeOf(head: Uint8Array): PictureType | null {
  const text = Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, headBytes)).toString('latin1');
  if (text.startsWith('\x89PNG\r\n\x1a\n\0\0\0\rIHDR')) return 'image/png';
  if (text.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (text.startsWith('GIF87a') || text.startsWith('GIF89a')) return 'image/gif';
  return text.startsWith('RIFF') && text.startsWith('WEBP', 8) ? 'image/webp' : null;
}
