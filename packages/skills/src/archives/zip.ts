import { SkillProblem, shownPath } from '@lodge/domain';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import { fromBuffer } from 'yauzl';
import type { Entry as ZipEntry, Options, ZipFile } from 'yauzl';
import { Entries, nameOf, refuseLink, refuseSpecial } from './entries.ts';
import type { Entry } from './entries.ts';

/** Names are bytes: the library's rules for them are looser than ours. */
const options = { lazyEntries: true, decodeStrings: false, validateEntrySizes: true } as const;
const open = promisify<Buffer, Options, ZipFile>(fromBuffer);

const fileTypes = 0o170000;
const types = { regular: 0o100000, folder: 0o040000, link: 0o120000 };
const executableBits = 0o111;
const stored = 0;
const deflated = 8;

/** Reads a zip by its directory. Throws a `SkillProblem`. */
export async function readZip(bytes: Uint8Array): Promise<readonly Entry[]> {
  const entries = new Entries();
  try {
    const zip = await open(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), options);
    // Somebody waits for each step, and hears of it there.
    zip.on('error', () => {});
    for (let entry = await next(zip); entry !== null; entry = await next(zip)) {
      entries.see();
      await take(zip, entry, entries);
    }
    return entries.files;
  } catch (error) {
    if (error instanceof SkillProblem) throw error;
    throw new SkillProblem('it is no zip archive that can be read', { cause: error });
  }
}

/** Reads on until the next entry; null at the end. */
async function next(zip: ZipFile): Promise<ZipEntry | null> {
  const over = new AbortController();
  const { signal } = over;
  try {
    zip.readEntry();
    return await Promise.race([
      once(zip, 'entry', { signal }).then(([entry]) => entry as ZipEntry),
      once(zip, 'end', { signal }).then(() => null),
    ]);
  } finally {
    over.abort();
  }
}

async function take(zip: ZipFile, entry: ZipEntry, entries: Entries): Promise<void> {
  const path = nameOf(entry.fileName as unknown as Buffer);
  const mode = entry.externalFileAttributes >>> 16;
  const type = mode & fileTypes;
  if (type === types.link) refuseLink(path);
  if (type !== 0 && type !== types.regular && type !== types.folder) refuseSpecial(path);
  if (path.endsWith('/')) return;
  if (type === types.folder) refuseSpecial(path);
  if (entry.isEncrypted()) throw new SkillProblem(`${shownPath(path)} is encrypted`);
  if (entry.compressionMethod !== stored && entry.compressionMethod !== deflated) {
    throw new SkillProblem(`${shownPath(path)} is compressed in another way than by deflate`);
  }
  if (!entries.admit(path, entry.uncompressedSize)) return;
  // The library ends a stream that is longer than the entry says.
  const stream = await promisify(zip.openReadStream.bind(zip) as OpenStream)(entry);
  const content = Buffer.concat(await stream.toArray());
  if (crc32(content) !== entry.crc32) throw new SkillProblem(`${shownPath(path)} is damaged`);
  entries.add({ path, content, executable: (mode & executableBits) !== 0 });
}

type OpenStream = (
  entry: ZipEntry,
  done: (error: Error | null, stream: NodeJS.ReadableStream & { toArray(): Promise<Buffer[]> }) => void,
) => void;
