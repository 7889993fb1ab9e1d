/**
 * Pictures as Chromium's screencast makes them: one baseline scan, with the few segments that it needs. All others are refused,
 * so a guest chooses neither the decoder's paths nor the memory of the viewer's browser.
 */
export const maxFrameBytes = 1024 * 1024;
const maxSide = 2_048;

const start = 0xd8;
const end = 0xd9;
const frame = 0xc0;
const scan = 0xda;
/** Application data of JFIF, quantisation and Huffman tables, the interval of restarts. */
const tables = new Set([0xe0, 0xdb, 0xc4, 0xdd]);

/** Whether the bytes are such a picture, of a bounded size. Linear in its length. */
export function isPlainJpeg(bytes: Uint8Array): boolean {
  if (bytes.length > maxFrameBytes || bytes[0] !== 0xff || bytes[1] !== start) return false;
  let hasFrame = false;
  for (let at = 2; at + 4 <= bytes.length;) {
    const marker = bytes[at] === 0xff ? bytes[at + 1]! : -1;
    const length = bytes[at + 2]! * 256 + bytes[at + 3]!;
    if (length < 2) return false;
    if (marker === scan) return hasFrame && isLastScan(bytes, at + 2 + length);
    if (marker === frame) {
      if (hasFrame || !isSmall(bytes, at + 4)) return false;
      hasFrame = true;
    } else if (!tables.has(marker)) return false;
    at += 2 + length;
  }
  return false;
}

/** The head of a frame: bits of a sample, height, width. */
function isSmall(bytes: Uint8Array, at: number): boolean {
  const [bits = 0, high = 0, low = 0, wide = 0, narrow = 0] = bytes.subarray(at, at + 5);
  const height = high * 256 + low;
  const width = wide * 256 + narrow;
  return bits === 8 && height > 0 && width > 0 && height <= maxSide && width <= maxSide;
}

/** Whether nothing but restarts is in the data from here to the end of the picture, which is the end of the bytes. */
function isLastScan(bytes: Uint8Array, from: number): boolean {
  for (let at = bytes.indexOf(0xff, from); at !== -1 && at + 1 < bytes.length; at = bytes.indexOf(0xff, at + 2)) {
    const marker = bytes[at + 1]!;
    if (marker === end) return at + 2 === bytes.length;
    if (marker !== 0 && (marker < 0xd0 || marker > 0xd7)) return false;
  }
  return false;
}
