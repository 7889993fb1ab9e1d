/**
 * Reports progress of slow background work in words for a person: `step` says what happens now, `fraction` (0..1) how far it
 * is, when known.
 */
export type ReportProgress = (step: string, fraction?: number) => void;

/** A guest image as files on this host. All are immutable once they exist. */
export interface Image {
  /** Hash of the recipe and its pinned inputs. Equal ids have equal bytes in every respect that matters. */
  readonly id: string;
  /** qcow2 file with the guest's root file system. */
  readonly rootDisk: string;
  readonly kernel: string;
  readonly initrd: string;
}

/** The size of the browser's disk, and of the device that shows it: a machine's devices never change. */
export const browserDiskBytes = 3 * 2 ** 30;

/** The built disk of the browser: a read-only root file system with the browser and all that it needs. */
export interface BrowserDiskFile {
  /** Hash of its inputs. They include the month, so that a browser is never much older than its last security update. */
  readonly id: string;
  /** An immutable file of `browserDiskBytes`. Its name has a hash of its bytes. */
  readonly path: string;
}

/** Builds the browser's disk and keeps it in the cache. */
export interface BrowserDiskBuilder {
  /** The present id, whether or not the disk exists. */
  id(): Promise<string>;
  /** The present disk when it is built, else null. */
  find(): Promise<BrowserDiskFile | null>;
  /** Builds the disk if it is absent. With concurrent builders one builds and the others wait. */
  ensure(progress: ReportProgress, signal: AbortSignal): Promise<BrowserDiskFile>;
}

/** Builds guest images by recipe and keeps them in a cache shared by every process on this host. */
export interface ImageBuilder {
  /** The present id of the named runtime's image, whether or not the image exists. */
  idOf(runtime: string): Promise<string>;
  /** The image when it exists and is whole, else null. Never builds. */
  find(runtime: string): Promise<Image | null>;
  /**
   * Builds the image if it is absent. With concurrent builders, in this process or others, one builds and the others wait.
   */
  ensure(runtime: string, progress: ReportProgress, signal: AbortSignal): Promise<Image>;
}
