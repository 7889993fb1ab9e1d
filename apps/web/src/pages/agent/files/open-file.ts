/** Reads a file of the workspace, as far as the page can show it. */
import { lodge, read } from '../../../api.ts';
import { nameOf } from './file-paths.ts';

export interface OpenedFile {
  readonly size: number;
  /** Names this version. */
  readonly etag: string;
  /** The text; null where it is none, or too long to edit here. */
  readonly text: string | null;
  /** A picture, as an address that only an <img> gets; null for anything else. */
  readonly picture: string | null;
}

/** A text area with more than this answers slowly. */
export const maxTextBytes = 1024 * 1024;
export const maxPictureBytes = 8 * 1024 * 1024;

/** Types that a browser shows without running anything. In an <img> an SVG neither runs scripts nor loads anything. */
const pictureTypes: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  bmp: 'image/bmp',
  ico: 'image/x-icon',
  svg: 'image/svg+xml',
};

const endingOf = (path: string): string => /\.([a-z0-9]{1,8})$/i.exec(nameOf(path))?.[1]?.toLowerCase() ?? '';
export const pictureTypeOf = (path: string): string | undefined => pictureTypes[endingOf(path)];
export const isMarkdown = (path: string): boolean => ['md', 'markdown'].includes(endingOf(path));

export async function openFile(agentId: string, path: string, signal?: AbortSignal): Promise<OpenedFile> {
  const content = await read(lodge.files.read(agentId, path, { signal }));
  const { size, etag } = content;
  const type = pictureTypeOf(path);
  const maxBytes = type === undefined ? maxTextBytes : maxPictureBytes;
  if (!(size <= maxBytes)) {
    content.cancel();
    return { size, etag, text: null, picture: null };
  }
  const bytes = await read(content.bytes());
  return {
    size,
    etag,
    text: bytes.length <= maxTextBytes ? textOf(bytes) : null,
    picture: type === undefined ? null : await dataAddress(new Blob([bytes], { type })),
  };
}

/** Returns the bytes as text, byte for byte what saving it gives back; null where they are no text. */
function textOf(bytes: Uint8Array<ArrayBuffer>): string | null {
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** The page's policy takes pictures as data alone, so no address of a picture is good for anything else. */
function dataAddress(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => resolve(reader.result as string));
    reader.addEventListener('error', () => reject(new Error('The picture cannot be read.')));
    reader.readAsDataURL(blob);
  });
}
