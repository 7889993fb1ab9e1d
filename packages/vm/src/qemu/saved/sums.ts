import { Thread } from '../host/thread.ts';

/** `layers` are qcow2 files; the name of the file beneath, which changes when the data folder is moved, is left out. */
export interface SumJob {
  readonly paths: readonly string[];
  readonly of: 'files' | 'layers';
}

/** SHA-256 of each. Rejects with the code of the file system. */
export async function sumsOf(paths: readonly string[], of: SumJob['of'] = 'files'): Promise<readonly string[]> {
  if (paths.length === 0) return [];
  const thread = new Thread<SumJob>(new URL('sum-thread.ts', import.meta.url));
  try {
    return await thread.run<readonly string[]>({ paths, of }, new AbortController().signal);
  } finally {
    await thread.end();
  }
}
