import type { CarriedData } from '../vm/saved-machines.ts';
import type { GuestAddress } from './guest-address.ts';

/**
 * The folders of a guest that belong to its agent, as one tar archive. A guest is hostile: what it sends is believed in nothing
 * and may have no end.
 */
export interface GuestTrees {
  /** Returns the folders' contents. Rejects, and so does reading, when the archive is not whole. */
  read(guest: GuestAddress, data: CarriedData, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  /**
   * Replaces the contents of the folders, whose runtime has ended, except for the template's own files, and writes them out to
   * the guest's disk. May be repeated. A guest in which it was cut short is useless.
   */
  write(guest: GuestAddress, data: CarriedData, archive: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void>;
}

/** Files on the host's disk for exports and imports of agents. Only this host's control plane reads them. */
export interface PortableFiles {
  /** Opens a file without a name, which ends with this process at the latest. */
  scratch(): Promise<ScratchFile>;
  /** Writes an import's file. It is on the disk, whole, when this resolves; else nothing of it is left in the end. */
  keep(id: string, bytes: AsyncIterable<Uint8Array>): Promise<void>;
  /** Returns null when there is none. */
  open(id: string): Promise<AsyncIterable<Uint8Array> | null>;
  /** Returns all, unfinished ones too, with the time of their last write. */
  list(): Promise<readonly { readonly id: string; readonly at: Date }[]>;
  /** Absence is a success. */
  drop(id: string): Promise<void>;
}

export interface ScratchFile {
  write(bytes: AsyncIterable<Uint8Array>): Promise<void>;
  /** Reads it from its beginning; may be repeated. */
  read(): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}
