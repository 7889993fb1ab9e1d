/**
 * Whether a template's files are as they were made.
 *
 * A mark names a file by inode and time of birth, with its size and the time of its last write. Any write to a file moves
 * that time, and only its owner, root, can set it back. A link keeps the mark, so a template may be linked and unlinked.
 * Root has restored or copied a file with another mark: its SHA-256 decides.
 *
 * Only the SHA-256 shows data that the disk beneath has lost: before a process first uses a template, it reads memory, disk
 * and devices once, in a thread, at more than a gigabyte a second.
 */
import { stat } from 'node:fs/promises';
import { sumsOf } from './sums.ts';

/** The files of a template, by the names in its folder. */
export const templateFileNames = {
  memory: 'memory',
  disk: 'disk.qcow2',
  devices: 'devices',
  kernel: 'kernel',
  initrd: 'initrd',
  rootDisk: 'root.qcow2',
} as const;

export type TemplateFile = keyof typeof templateFileNames;

export const templateFiles = Object.keys(templateFileNames) as readonly TemplateFile[];
/** The image's part, which no VM may write. */
export const imageFiles: readonly TemplateFile[] = ['kernel', 'initrd', 'rootDisk'];
/** The template files that a booting VM needs. */
export const bootFiles: readonly TemplateFile[] = ['disk', ...imageFiles];

/** One file as it was made. */
export interface FileFacts {
  readonly mark: string;
  readonly sum: string;
}

interface Mark {
  readonly size: string;
  /** Inode and time of birth: no other file has both. */
  readonly file: string;
  readonly written: string;
}

export class TemplateChecks {
  /** By path: the mark under which the file was found unchanged, or is being read. */
  private readonly known = new Map<string, { readonly mark: string; readonly right: Promise<boolean> }>();

  async isRight(path: string, name: TemplateFile, made: FileFacts): Promise<boolean> {
    const found = await markOf(path);
    if (found === null || made.mark === '') return false;
    const known = this.known.get(path);
    if (known?.mark === found) return known.right;
    const [now, ...earlier] = [found, made.mark, ...(known ? [known.mark] : [])].map(parts) as [Mark, ...Mark[]];
    if (earlier.some(({ size }) => size !== now.size)) return false;
    if (earlier.some(({ file, written }) => file === now.file && written !== now.written)) return false;
    const right =
      imageFiles.includes(name) && found === made.mark
        ? Promise.resolve(true)
        : sumsOf([path]).then(([sum]) => sum === made.sum);
    this.known.set(path, { mark: found, right });
    // A file that could not be read is tried again.
    right.catch(() => this.known.delete(path));
    return right;
  }

  /** Applies a file's result to a link to it. */
  linked(from: string, to: string): void {
    const known = this.known.get(from);
    if (known) this.known.set(to, known);
  }
}

/** Size, identity and time of writing of a file; null when it is absent. */
export async function markOf(path: string): Promise<string | null> {
  const found = await stat(path, { bigint: true }).catch(() => null);
  return found && `${found.size}:${found.ino}.${found.birthtimeNs}:${found.mtimeNs}`;
}

/** The facts of existing files. */
export async function factsOf(paths: readonly string[]): Promise<readonly FileFacts[]> {
  const sums = await sumsOf(paths);
  return Promise.all(paths.map(async (path, index) => ({ mark: (await markOf(path)) ?? '', sum: sums[index]! })));
}

function parts(mark: string): Mark {
  const [size = '', file = '', written = ''] = mark.split(':');
  return { size, file, written };
}
