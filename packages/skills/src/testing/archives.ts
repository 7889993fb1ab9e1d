/** Makes archives byte by byte, so that tests have also those that no program would write. */
import { crc32, deflateRawSync, gzipSync } from 'node:zlib';

export interface Packed {
  readonly path: string | Buffer;
  readonly content?: string | Uint8Array;
  /** Unix mode with its type. */
  readonly mode?: number;
  /** Words of the archive that are not true. */
  readonly lies?: { readonly size?: number; readonly crc?: number; readonly flags?: number; readonly method?: number };
  /** Typeflag in a tar. */
  readonly type?: string;
}

export const skillText = (name = 'notes', more = ''): string =>
  `---\nname: ${name}\ndescription: Writes notes.\n---\n# Notes\n\nWrite them.\n${more}`;

export const skillOf = (...files: readonly Packed[]): readonly Packed[] => [
  { path: 'SKILL.md', content: skillText() },
  ...files,
];

const regular = 0o100644;

export function zipOf(files: readonly Packed[], entryCount = files.length): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const { path, content = '', mode = regular, lies = {} } of files) {
    const name = Buffer.from(path as string);
    const bytes = Buffer.from(content as string);
    const packed = deflateRawSync(bytes);
    const facts = Buffer.alloc(26);
    facts.writeUInt16LE(20, 0);
    facts.writeUInt16LE(lies.flags ?? 0x800, 2);
    facts.writeUInt16LE(lies.method ?? 8, 4);
    facts.writeUInt32LE(lies.crc ?? crc32(bytes), 10);
    facts.writeUInt32LE(packed.length, 14);
    facts.writeUInt32LE(lies.size ?? bytes.length, 18);
    facts.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), facts, name, packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(mode * 65_536, 6);
    rest.writeUInt32LE(at, 10);
    directory.push(Buffer.from('PK\x01\x02'), Buffer.from([20, 3]), facts, rest, name);
    parts.push(local);
    at += local.length;
  }
  const whole = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entryCount, 4);
  end.writeUInt16LE(entryCount, 6);
  end.writeUInt32LE(whole.length, 8);
  end.writeUInt32LE(at, 12);
  return Buffer.concat([...parts, whole, Buffer.from('PK\x05\x06'), end]);
}

const block = 512;

export function tarOf(files: readonly Packed[]): Buffer {
  const parts = files.map(({ path, content = '', mode = regular, type = '0', lies = {} }) => {
    const bytes = Buffer.from(content as string);
    const header = Buffer.alloc(block);
    Buffer.from(path as string).copy(header, 0);
    header.write(`${(mode & 0o7777).toString(8).padStart(7, '0')}\0`, 100);
    header.write(`${(lies.size ?? bytes.length).toString(8).padStart(11, '0')}\0`, 124);
    header.write(`        ${type}`, 148);
    header.write('ustar\x0000', 257);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    return Buffer.concat([header, bytes, Buffer.alloc((block - (bytes.length % block)) % block)]);
  });
  return Buffer.concat([...parts, Buffer.alloc(2 * block)]);
}

export const tarGzOf = (files: readonly Packed[]): Buffer => gzipSync(tarOf(files));
