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
