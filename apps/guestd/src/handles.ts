import type { FileHandle } from 'node:fs/promises';

/** A name in an open folder: openat(2) for programs without it, whatever becomes of the folder's own path meanwhile. */
export const within = (folder: FileHandle, name: string): string => `/proc/self/fd/${folder.fd}/${name}`;
