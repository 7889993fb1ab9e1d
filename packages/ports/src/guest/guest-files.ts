import { NamedError } from '@lodge/domain';
import type { GuestAddress } from './guest-address.ts';

/** Files in the workspace of a guest, for the carriers of files between guests and the world. */
export interface GuestFiles {
  /**
   * Writes a file whole or not at all, in place of the old one, and makes the folders above it. Rejects with a
   * `GuestFileFailure`.
   */
  write(guest: GuestAddress, path: string, bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void>;
  /**
   * Returns the bytes of a regular file of at most `maxBytes`. Rejects with a `GuestFileFailure`, and so does reading when
   * bytes are missing.
   */
  read(guest: GuestAddress, path: string, maxBytes: number, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
}

/** Paths are relative to the workspace. */
export type GuestFileTrouble = 'not_there' | 'not_a_file' | 'too_large' | 'disk_full' | 'unavailable';

export class GuestFileFailure extends NamedError {
  readonly trouble: GuestFileTrouble;
  constructor(trouble: GuestFileTrouble, cause?: unknown) {
    super(`a file of a guest: ${trouble}`, { cause });
    this.trouble = trouble;
  }
}
