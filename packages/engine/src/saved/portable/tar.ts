/**
 * Reads and writes tar archives as streams. Nothing that a hostile archive says is believed: each header is bounded before it
 * is looked at, and contents pass without being held. Names are bytes, one for each character.
 */
import { ByteSource } from './bytes.ts';
import type { Bytes } from './bytes.ts';
import { ImportProblem } from './problem.ts';

export type EntryType = 'file' | 'folder' | 'symlink' | 'link' | 'other';

export interface TarEntry {
  /** Without a slash at its end. */
  readonly path: string;
  readonly type: EntryType;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** Unix time, s. */
  readonly mtime: number;
  /** Bytes in the archive. */
  readonly size: number;
  /** The target of a link; else empty. */
  readonly link: string;
  /** The file's size when its content is GNU's sparse form 1.0, a map and what is not a hole; else null. */
  readonly realSize: number | null;
}

const block = 512;
const maxRecords = 64 * 1024;
const maxPathBytes = 4096;
/** Zeroes that may follow the end. */
const maxPadding = 1024 * 1024;

const types: Readonly<Record<string, EntryType>> = {
  '0': 'file',
  '\0': 'file',
  '7': 'file',
  '1': 'link',
  '2': 'symlink',
  '5': 'folder',
};
const flags = { file: '0', link: '1', symlink: '2', folder: '5', other: '0' } as const;

interface Given {
  path?: string;
  link?: string;
  size?: number;
  realSize?: number;
  mtime?: number;
  isSparse?: boolean;
}

export class TarReader {
  private readonly source: ByteSource;
  private left = 0;
  private padding = 0;

  constructor(bytes: Bytes) {
    this.source = new ByteSource(bytes);
  }

  /** Returns the next entry, and skips what was not read of the last one's content; null at the end. */
  async next(): Promise<TarEntry | null> {
    const given: Given = {};
    for (;;) {
      await this.skip();
      const header = await this.source.exactly(block);
      if (isZero(header)) return this.end();
      const { type, size, ...rest } = headerOf(header);
      if (type === 'x' || type === 'L' || type === 'K' || type === 'g') {
        if (size > maxRecords) throw broken('a header in it is too long');
        const content = await this.source.exactly(padded(size));
        if (type !== 'g') note(given, type, content.subarray(0, size));
        continue;
      }
      return this.begin({ ...rest, type: types[type] ?? 'other', size: given.size ?? size }, given);
    }
  }

  /** The content of the last entry, as it comes. */
  async *content(): AsyncGenerator<Buffer> {
    const { left } = this;
    this.left = 0;
    yield* this.source.pass(left);
  }

  private begin(entry: Omit<TarEntry, 'realSize'>, given: Given): TarEntry {
    const hasContent = entry.type === 'file' || entry.type === 'other';
    const size = hasContent ? entry.size : 0;
    this.left = size;
    this.padding = padded(size) - size;
    const path = trimmed(given.path ?? entry.path);
    const link = given.link ?? entry.link;
    if (path.length > maxPathBytes || link.length > maxPathBytes) throw broken('a name in it is too long');
    const realSize = given.isSparse ? (given.realSize ?? null) : null;
    if (given.isSparse && (realSize === null || entry.type !== 'file'))
      throw broken('a file with holes in it is not whole');
    return { ...entry, size, path, link, mtime: given.mtime ?? entry.mtime, realSize };
  }

  private async skip(): Promise<void> {
    const count = this.left + this.padding;
    this.left = 0;
    this.padding = 0;
    for await (const _ of this.source.pass(count));
  }

  /** Nothing but zeroes follows the end, and not many of them. */
  private async end(): Promise<null> {
    let count = 0;
    for (;;) {
      const rest = await this.source.upTo(64 * 1024);
      if (rest.length === 0) return null;
      count += rest.length;
      if (count > maxPadding || !isZero(rest)) throw broken('something follows its end');
    }
  }
}

const broken = (why = 'it is no archive that can be read'): ImportProblem => new ImportProblem(why);
const padded = (size: number): number => Math.ceil(size / block) * block;
const zeroes = Buffer.alloc(64 * 1024);
const isZero = (bytes: Buffer): boolean => bytes.equals(zeroes.subarray(0, bytes.length));
const trimmed = (path: string): string => (path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path);

function headerOf(header: Buffer): Omit<TarEntry, 'type' | 'realSize'> & { readonly type: string } {
  let sum = 0;
  for (let at = 0; at < block; at += 1) sum += at >= 148 && at < 156 ? 0x20 : header[at]!;
  if (number(header, 148, 8) !== sum) throw broken();
  const isPosix = header.subarray(257, 263).equals(Buffer.from('ustar\0'));
  const prefix = isPosix ? text(header, 345, 155) : '';
  const name = text(header, 0, 100);
  return {
    path: prefix === '' ? name : `${prefix}/${name}`,
    type: String.fromCharCode(header[156]!),
    mode: number(header, 100, 8),
    uid: number(header, 108, 8),
    gid: number(header, 116, 8),
    size: number(header, 124, 12),
    mtime: number(header, 136, 12),
    link: text(header, 157, 100),
  };
}

function text(header: Buffer, at: number, length: number): string {
  const field = header.subarray(at, at + length);
  const end = field.indexOf(0);
  return (end < 0 ? field : field.subarray(0, end)).toString('latin1');
}

/** A number in octal, or in GNU's form for larger ones. */
function number(header: Buffer, at: number, length: number): number {
  if (header[at] === 0x80) {
    const large = header.subarray(at + length - 8, at + length).readBigUInt64BE();
    const isShort = header.subarray(at + 1, at + length - 8).every((byte) => byte === 0);
    if (!isShort || large > BigInt(Number.MAX_SAFE_INTEGER)) throw broken();
    return Number(large);
  }
  const digits = text(header, at, length).trim();
  if (!/^[0-7]{0,12}$/.test(digits)) throw broken();
  return digits === '' ? 0 : Number.parseInt(digits, 8);
}

function note(given: Given, type: string, content: Buffer): void {
  if (type === 'L') given.path = upToZero(content);
  else if (type === 'K') given.link = upToZero(content);
  else noteRecords(given, content);
}

const upToZero = (bytes: Buffer): string => text(bytes, 0, bytes.length);

/** Records of `<length> <name>=<value>\n`. */
function noteRecords(given: Given, records: Buffer): void {
  for (let at = 0; at < records.length;) {
    const space = records.indexOf(0x20, at);
    const digits = space < 0 ? '' : records.toString('latin1', at, Math.min(space, at + 8));
    const end = at + (/^[1-9]\d{0,6}$/.test(digits) ? Number(digits) : 0);
    const equals = records.indexOf(0x3d, space);
    const isRecord = equals > space && equals < end && end <= records.length && records[end - 1] === 0x0a;
    if (space < 0 || !isRecord) throw broken();
    noteRecord(given, records.toString('latin1', space + 1, equals), records.toString('latin1', equals + 1, end - 1));
    at = end;
  }
}

function noteRecord(given: Given, name: string, value: string): void {
  switch (name) {
    case 'path':
      // GNU's sparse form has a name of its own.
      given.path ??= value;
      return;
    case 'linkpath':
      given.link = value;
      return;
    case 'size':
      given.size = count(value);
      return;
    case 'mtime':
      given.mtime = /^-?\d{1,15}(?:\.\d{1,20})?$/.test(value) ? Math.max(0, Math.floor(Number(value))) : 0;
      return;
    case 'GNU.sparse.name':
      given.path = value;
      return;
    case 'GNU.sparse.major':
      if (value !== '1') throw broken('it has files with holes in an old form');
      given.isSparse = true;
      return;
    case 'GNU.sparse.realsize':
      given.realSize = count(value);
      return;
    case 'GNU.sparse.size':
    case 'GNU.sparse.map':
    case 'GNU.sparse.numblocks':
      throw broken('it has files with holes in an old form');
    case 'uid':
    case 'gid':
      throw broken('a file in it has an owner that no agent has');
  }
}

function count(value: string): number {
  if (!/^\d{1,15}$/.test(value)) throw broken();
  return Number(value);
}

/** The header of an entry, with another before it for what has no room in the first. */
export function headerBytes(entry: TarEntry): Buffer {
  const { path, link, size, realSize } = entry;
  const records = [
    ...(path.length > 99 || realSize !== null ? [['path', path] as const] : []),
    ...(link.length > 100 ? [['linkpath', link] as const] : []),
    ...(size >= 8 ** 11 ? [['size', String(size)] as const] : []),
    ...(realSize === null
      ? []
      : ([
          ['GNU.sparse.major', '1'],
          ['GNU.sparse.minor', '0'],
          ['GNU.sparse.name', path],
          ['GNU.sparse.realsize', String(realSize)],
        ] as const)),
  ];
  if (records.length === 0) return ustar(entry, flags[entry.type]);
  const content = Buffer.from(records.map(([name, value]) => recordOf(name, value)).join(''), 'latin1');
  const own = { ...entry, path: '@', link: '', size: content.length, mode: 0o644 };
  const rest = Buffer.alloc(padded(content.length) - content.length);
  return Buffer.concat([ustar(own, 'x'), content, rest, ustar(entry, flags[entry.type])]);
}

/** Zeroes that fill the last block of a content. */
export const paddingBytes = (size: number): Buffer => Buffer.alloc(padded(size) - size);
/** The end of an archive. */
export const endBytes = (): Buffer => Buffer.alloc(2 * block);

/** A record's length counts itself. */
function recordOf(name: string, value: string): string {
  const rest = ` ${name}=${value}\n`;
  let length = rest.length + 1;
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length;
  return `${length}${rest}`;
}

function ustar(entry: TarEntry, flag: string): Buffer {
  const header = Buffer.alloc(block);
  const name = entry.type === 'folder' ? `${entry.path}/` : entry.path;
  header.write(name.slice(0, 100), 0, 'latin1');
  header.write(octal(entry.mode, 8), 100);
  header.write(octal(entry.uid, 8), 108);
  header.write(octal(entry.gid, 8), 116);
  header.write(octal(entry.size < 8 ** 11 ? entry.size : 0, 12), 124);
  header.write(octal(Math.min(entry.mtime, 8 ** 11 - 1), 12), 136);
  header.write(`        ${flag}`, 148, 'latin1');
  header.write(entry.link.slice(0, 100), 157, 'latin1');
  header.write('ustar\x0000', 257, 'latin1');
  let sum = 0;
  for (const byte of header) sum += byte;
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return header;
}

const octal = (value: number, length: number): string => `${value.toString(8).padStart(length - 1, '0')}\0`;
