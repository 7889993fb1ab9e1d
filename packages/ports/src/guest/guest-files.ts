import type { GuestAddress } from './guest-address.ts';

/** Files in the workspace of a guest, for whoever carries them between a guest and the world. */
export interface GuestFiles {
  /** Whole or not at all, in the place of what was there; folders on the way are made. Rejects with a `GuestFileFailure`. */
  write(guest: GuestAddress, path: string, bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void>;
  /** The bytes of a regular file of at most `maxBytes`. Rejects with a `GuestFileFailure`, as reading does when they do not all come. */
  read(guest: GuestAddress, path: string, maxBytes: number, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
}

/** Paths are relative to the workspace. */
export type GuestFileTrouble = 'not_there' | 'not_a_file' | 'too_large' | 'disk_full' | 'unavailable';

export class GuestFileFailure extends Error {
  readonly trouble: GuestFileTrouble;
  constructor(trouble: GuestFileTrouble, cause?: unknown) {
    super(`a file of a guest: ${trouble}`, { cause });
    this.name = 'GuestFileFailure';
    this.trouble = trouble;
  }
}
