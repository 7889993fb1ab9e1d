import type { RelayFiles } from '@lodge/ports';

/** Null: there is no such file. What it gives may be opened more than once, one after another. */
export async function fileStream(
  files: Pick<RelayFiles, 'read'>,
  key: string,
): Promise<(() => AsyncIterable<Uint8Array>) | null> {
  try {
    const first = files.read(key)[Symbol.asyncIterator]();
    await first.next();
    await first.return?.();
  } catch {
    return null;
  }
  return () => files.read(key);
}
