/** Whether a path is root's alone: whoever may replace it, or a folder above it, decides what root runs there. */
import { realpath, stat } from 'node:fs/promises';
import { dirname, relative } from 'node:path';

export interface Stranger {
  readonly path: string;
  /** In words: who may replace it. */
  readonly who: string;
}

/** Null where the path and all folders above it, up to `top`, are root's to write alone. Links count as what they lead to. */
export async function strangerOf(path: string, top = '/'): Promise<Stranger | null> {
  const last = await realpath(top);
  for (let at = await realpath(path); ; at = dirname(at)) {
    const { uid, mode } = await stat(at);
    if (uid !== 0) return { path: at, who: `user ${uid}` };
    if ((mode & 0o022) !== 0) return { path: at, who: 'others than its owner' };
    if (at === last || at === '/' || relative(last, at).startsWith('..')) return null;
  }
}
