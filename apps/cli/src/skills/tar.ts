/** Writes a tar archive in the form of POSIX, of regular files alone. */
import { usageError } from '../failure.ts';

interface TarFile {
  readonly path: string;
  readonly content: Uint8Array;
  readonly executable: boolean;
}

const block = 512;

export const tarOf = (files: readonly TarFile[]): Buffer =>
  Buffer.concat([
    ...files.flatMap((file) => [
      headerOf(file),
      file.content,
      Buffer.alloc((block - (file.content.length % block)) % block),
    ]),
    Buffer.alloc(2 * block),
  ]);

function headerOf({ path, content, executable }: TarFile): Buffer {
  const header = Buffer.alloc(block);
  const [prefix, name] = partsOf(path);
  header.write(name, 0);
  header.write(executable ? '0000755\0' : '0000644\0', 100);
  header.write('0000000\0'.repeat(2), 108);
  header.write(`${content.length.toString(8).padStart(11, '0')}\0${'0'.repeat(11)}\0`, 124);
  header.write(`${' '.repeat(8)}0`, 148);
  header.write('ustar\x0000', 257);
  header.write(prefix, 345);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}

/** A long path is parted at a slash. */
function partsOf(path: string): readonly [prefix: string, name: string] {
  if (Buffer.byteLength(path) <= 100) return ['', path];
  for (let at = path.indexOf('/'); at > 0; at = path.indexOf('/', at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)];
    if (Buffer.byteLength(prefix) <= 155 && Buffer.byteLength(name) <= 100) return [prefix, name];
  }
  throw usageError(`The path ${path} is too long.`);
}
