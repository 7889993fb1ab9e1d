/** The jobs of the thread for saved memory (`memory-thread.ts`) and its answers. */
import { Thread } from '../../host/thread.ts';
import { damaged } from '../snapshot/page-job.ts';
import type { SavedPages } from '../snapshot/page-job.ts';
import { damagedSaved } from './manifest.ts';

export interface MakeJob {
  readonly do: 'make';
  /** Pages of guest memory that the whole file has; the pages after them stay apart. */
  readonly wholePages: number;
  readonly pagesPath: string;
  readonly pages: SavedPages;
  /** A copy of what lies beneath the pages. */
  readonly wholePath: string;
  readonly restPath: string;
}

export interface CheckJob {
  readonly do: 'check';
  readonly path: string;
  readonly bytes: number;
}

export interface MadeWhole {
  readonly sums: Uint32Array;
  readonly rest: SavedPages;
}

export interface PagesJob {
  readonly do: 'check-pages';
  readonly path: string;
  readonly pages: SavedPages;
}

export interface PackJob {
  readonly do: 'pack';
  readonly path: string;
  readonly pages: SavedPages;
  readonly packedPath: string;
}

type MemoryJob = MakeJob | CheckJob | PagesJob | PackJob;

/** Does one job in a thread of its own. Rejects with `saved_damaged` when pages are not as they were saved. */
export async function inMemoryThread<T>(job: MemoryJob, signal: AbortSignal): Promise<T> {
  const thread = new Thread<MemoryJob>(new URL('memory-thread.ts', import.meta.url));
  try {
    return await thread.run<T>(job, signal);
  } catch (error) {
    if (error instanceof Error && error.message === damaged) throw damagedSaved('its memory');
    throw error;
  } finally {
    await thread.end();
  }
}
