/** The jobs of the page thread (`page-thread.ts`) and its answers. */
import { Thread } from '../../host/thread.ts';

/** The base beneath the pages of a memory: the template's memory file, a whole file of its own (`whole.ts`), or nothing. */
export type MemoryBase = 'template' | 'whole' | 'none';

/**
 * A piece of guest memory in QEMU's address space. A memory numbers the pages of all pieces consecutively, in this order.
 */
export interface MemoryRegion {
  readonly address: number;
  readonly bytes: number;
  /** Whether a page that is not the VM's own holds zeros; else it is the template's. */
  readonly blank: boolean;
}

/**
 * Copies a VM's own pages. A guest that goes on runs while `ahead` copies them all, and stands still only for the `save` that
 * follows in the same thread, which writes those that differ since. A `save` by itself copies them all.
 */
export interface SaveJob {
  readonly do: 'ahead' | 'save';
  readonly pid: number;
  readonly regions: readonly MemoryRegion[];
  /** The file for the pages, one after another; made anew. */
  readonly path: string;
  /** Whether the file is fsynced, too. A guest that goes on does not wait for the disk: whoever keeps the file fsyncs it then. */
  readonly isSynced: boolean;
}

export interface SavedPages {
  readonly bytes: number;
  /** See `PageIndex`. */
  readonly index: Uint32Array;
  /** CRC-32 of each `chunkBytes` of the pages. */
  readonly sums: Uint32Array;
  /** Set where each `chunkBytes` is a zstd frame of its own: the length of each, bytes. */
  readonly packed?: Uint32Array;
}

export interface LayJob extends SavedPages {
  readonly do: 'lay';
  readonly pid: number;
  readonly regions: readonly MemoryRegion[];
  readonly path: string;
}

/** A thread that copies pages. */
export function pageThread(): Thread<SaveJob | LayJob> {
  return new Thread(new URL('page-thread.ts', import.meta.url));
}

export const chunkBytes = 1 << 20;
/** Message of the error for pages that differ from the saved ones. */
export const damaged = 'the snapshot is damaged';
