import type { CallOptions } from '../options.ts';
import type { OnProgress } from '../http/upload.ts';

export interface TransferOptions extends Omit<CallOptions, 'idempotencyKey'> {
  /** True: a stopped agent is started for it. */
  readonly wake?: boolean | undefined;
  readonly onProgress?: OnProgress | undefined;
}

export interface FolderProgress {
  /** The file that is under way, relative to the folder, with slashes. */
  readonly path: string;
  /** Bytes of all files that are there by now, those under way included. */
  readonly bytes: number;
  /** Bytes of all files, as far as they are known. */
  readonly allBytes: number;
  /** Files that are whole. */
  readonly files: number;
  readonly allFiles: number;
}

export interface FolderOptions extends Omit<TransferOptions, 'onProgress'> {
  readonly onProgress?: ((progress: FolderProgress) => void) | undefined;
  /** True for what is left out, by its path relative to the folder, with slashes. A folder goes with all that is in it. */
  readonly ignore?: ((path: string, isFolder: boolean) => boolean) | undefined;
  /** Files at once; 4 by default. */
  readonly concurrency?: number | undefined;
}

export interface FolderResult {
  readonly files: number;
  readonly bytes: number;
  /** Links, devices and the like, which are not transferred. */
  readonly skipped: readonly string[];
}
