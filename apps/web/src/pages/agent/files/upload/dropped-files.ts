/** Files that a person dropped on the page or chose, with their paths below what was dropped. */
import type { GivenFile } from './upload-queue.ts';

/** More than this at once is a mistake, or a matter of the command line. */
export const maxFiles = 5000;

/** Throws a RangeError for more files than the page takes. */
export async function filesOfDrop(transfer: DataTransfer): Promise<readonly GivenFile[]> {
  // The dropped files can be read only now, before the first wait.
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  if (entries.length === 0) return [...transfer.files].map((file) => ({ file, path: file.name }));
  const found: GivenFile[] = [];
  for (const entry of entries) await collect(entry, found);
  return found;
}

/** A chosen folder's files know their path within it. */
export function filesOfInput(files: FileList): readonly GivenFile[] {
  if (files.length > maxFiles) throw new RangeError('too many files');
  return [...files].map((file) => ({ file, path: file.webkitRelativePath || file.name }));
}

async function collect(entry: FileSystemEntry, found: GivenFile[]): Promise<void> {
  if (found.length >= maxFiles) throw new RangeError('too many files');
  const path = entry.fullPath.replace(/^\//, '');
  if (isFile(entry)) {
    found.push({ file: await new Promise<File>((done, fail) => entry.file(done, fail)), path });
    return;
  }
  if (!isFolder(entry)) return;
  const reader = entry.createReader();
  // Each call gives some of the entries, until one gives none.
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((done, fail) => reader.readEntries(done, fail));
    if (some.length === 0) return;
    for (const each of some) await collect(each, found);
  }
}

const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile;
const isFolder = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory;
