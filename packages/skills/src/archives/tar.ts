/** Reads tar archives of POSIX and GNU, which have nothing but regular files and folders. */
import { SkillProblem, skillBounds } from '@lodge/domain';
import { gunzipSync } from 'node:zlib';
import { Entries, nameOf, refuseLink, refuseSpecial } from './entries.ts';
import type { Entry } from './entries.ts';

const block = 512;
/** An entry has a header, an end that fills its last block, and may have a header of its own for its name. */
const maxBytes = skillBounds.bytes + 4 * 2 ** 20;
const maxExtendedBytes = 64 * 1024;
const executableBits = 0o111;

/** Throws a `SkillProblem`. */
export function readTarGz(bytes: Uint8Array): readonly Entry[] {
  return readTar(unpacked(bytes));
}

function unpacked(bytes: Uint8Array): Buffer {
  try {
    return gunzipSync(bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    const isLong = (error as { readonly code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE';
    throw new SkillProblem(
      isLong ? `its files have more than ${skillBounds.bytes / 2 ** 20} MiB` : 'it is no gzip that can be read',
      { cause: error },
    );
  }
}

interface Header {
  readonly name: string;
  readonly type: string;
  readonly size: number;
  readonly mode: number;
}

function readTar(tar: Buffer): readonly Entry[] {
  const entries = new Entries();
  let at = 0;
  let longName: string | null = null;
  while (at + block <= tar.length && !tar.subarray(at, at + block).every((byte) => byte === 0)) {
    entries.see();
    const header = headerOf(tar.subarray(at, at + block));
    const begin = at + block;
    const end = begin + header.size;
    if (end > tar.length) throw broken();
    const content = tar.subarray(begin, end);
    at = begin + Math.ceil(header.size / block) * block;
    if (header.type === 'x' || header.type === 'L') {
      if (content.length > maxExtendedBytes) throw broken();
      longName = (header.type === 'L' ? nameOf(content).replace(/\0[^]*$/, '') : paxPathOf(content)) ?? longName;
      continue;
    }
    const name = longName ?? header.name;
    longName = null;
    if (header.type !== 'g') take(entries, { ...header, name }, content);
  }
  if (at === 0) throw broken();
  return entries.files;
}

function take(entries: Entries, { name, type, mode }: Header, content: Uint8Array): void {
  const path = name.replace(/^(?:\.\/)+/, '');
  if (type === '1' || type === '2') refuseLink(path);
  if (type === '5' || ((type === '0' || type === '\0') && path.endsWith('/'))) return;
  if (type !== '0' && type !== '\0' && type !== '7') refuseSpecial(path);
  if (!entries.admit(path, content.length)) return;
  entries.add({ path, content, executable: (mode & executableBits) !== 0 });
}

const broken = (): SkillProblem => new SkillProblem('it is no tar archive that can be read');

function headerOf(header: Buffer): Header {
  const sum = header.reduce((total, byte, index) => total + (index >= 148 && index < 156 ? 0x20 : byte), 0);
  if (octal(header, 148, 8) !== sum) throw broken();
  const isPosix = header.subarray(257, 263).equals(Buffer.from('ustar\0'));
  const prefix = isPosix ? textAt(header, 345, 155) : '';
  const name = textAt(header, 0, 100);
  return {
    name: prefix === '' ? name : `${prefix}/${name}`,
    type: String.fromCharCode(header[156]!),
    size: octal(header, 124, 12),
    mode: octal(header, 100, 8),
  };
}

function textAt(header: Buffer, at: number, length: number): string {
  const field = header.subarray(at, at + length);
  const end = field.indexOf(0);
  return nameOf(end < 0 ? field : field.subarray(0, end));
}

/** Sizes in another form are those of 8 GiB and more. */
function octal(header: Buffer, at: number, length: number): number {
  const text = header
    .subarray(at, at + length)
    .toString('latin1')
    .replace(/\0[^]*$/, '')
    .trim();
  if (!/^[0-7]{0,11}$/.test(text)) throw broken();
  return text === '' ? 0 : Number.parseInt(text, 8);
}

/**
 * The path of an extended header: records of `<length> <name>=<value>\n`. A size of its own would be for a file of 8 GiB, and
 * is refused.
 */
function paxPathOf(records: Buffer): string | null {
  let path: string | null = null;
  for (let at = 0; at < records.length;) {
    const space = records.indexOf(0x20, at);
    const digits = records.subarray(at, space).toString('latin1');
    const length = /^\d{1,6}$/.test(digits) ? Number(digits) : 0;
    const end = at + length;
    const equals = records.indexOf(0x3d, space);
    if (space < 0 || equals < 0 || equals >= end || end > records.length || records[end - 1] !== 0x0a) throw broken();
    const name = records.subarray(space + 1, equals).toString('latin1');
    if (name === 'size' || name.startsWith('GNU.sparse')) throw broken();
    if (name === 'path') path = nameOf(records.subarray(equals + 1, end - 1));
    at = end;
  }
  return path;
}
