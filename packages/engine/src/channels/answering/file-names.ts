/** Names and types of files between platforms and workspaces. */

const maxNameBytes = 120;
const unsafe = /[\p{C}\p{Z}/\\]+/gu;

/**
 * A name that a folder accepts, of at most `maxNameBytes` bytes of UTF-8, without separators, control characters or a
 * leading dot. It keeps its ending. A stranger chose the given name.
 */
export function safeName(given: string): string {
  const plain = given
    .slice(0, 4 * maxNameBytes)
    .toWellFormed()
    .replaceAll(unsafe, '_');
  let start = 0;
  while (plain[start] === '.' || plain[start] === '_') start += 1;
  const name = plain.slice(start);
  if (name === '') return 'file';
  const dot = name.lastIndexOf('.');
  const ending = dot > 0 && name.length - dot <= 12 ? name.slice(dot) : '';
  const stem = ending === '' ? name : name.slice(0, dot);
  return cutTo(stem, maxNameBytes - Buffer.byteLength(ending)) + ending;
}

function cutTo(text: string, maxBytes: number): string {
  let bytes = 0;
  let cut = '';
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    if (bytes > maxBytes) break;
    cut += character;
  }
  return cut;
}

const types: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  gif: 'image/gif',
  gz: 'application/gzip',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  json: 'application/json',
  md: 'text/markdown',
  mp3: 'audio/mpeg',
  mp4: 'video/mp4',
  ogg: 'audio/ogg',
  pdf: 'application/pdf',
  png: 'image/png',
  svg: 'image/svg+xml',
  txt: 'text/plain',
  wav: 'audio/wav',
  webp: 'image/webp',
  xml: 'application/xml',
  zip: 'application/zip',
};

/** Guesses a media type from the name's ending. */
export function mediaTypeOf(name: string): string {
  const ending = name.slice(name.lastIndexOf('.') + 1).toLowerCase();
  return Object.hasOwn(types, ending) ? types[ending]! : 'application/octet-stream';
}
