import { crc32, deflateSync } from 'node:zlib';
import { encode } from 'uqr';

const scale = 6;
const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** Draws the QR code of `text` as a PNG of two colours (W3C PNG, third edition), in a data URL. */
export function qrPng(text: string): string {
  const { data, size } = encode(text, { ecc: 'L', border: 2 });
  const side = size * scale;
  const rowBytes = Math.ceil(side / 8);
  const pixels = Buffer.alloc(side * (1 + rowBytes));
  for (let y = 0; y < side; y += 1) {
    const start = y * (1 + rowBytes) + 1;
    for (let x = 0; x < side; x += 1) {
      const isDark = data[Math.floor(y / scale)]![Math.floor(x / scale)];
      if (!isDark) pixels[start + (x >> 3)]! |= 0x80 >> (x & 7);
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  // One bit a pixel, grey.
  header[8] = 1;
  const png = Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', deflateSync(pixels)), chunk('IEND')]);
  return `data:image/png;base64,${png.toString('base64')}`;
}

function chunk(type: string, data: Buffer = Buffer.alloc(0)): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const ends = Buffer.alloc(8);
  ends.writeUInt32BE(data.length, 0);
  ends.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)]);
}
