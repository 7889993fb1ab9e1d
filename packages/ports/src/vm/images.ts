/** Progress of slow background work, in words for a person: `step` says what happens now, `fraction` (0..1) how far it is where that is known. */
export type ReportProgress = (step: string, fraction?: number) => void;

/** A guest image as files on this host. All are immutable once they exist. */
export interface Image {
  /** Hash of the recipe and its pinned inputs: the same id is the same bytes in every respect that matters. */
  readonly id: string;
  /** qcow2 file with the guest's root file system. */
  readonly rootDisk: string;
  readonly kernel: string;
  readonly initrd: string;
}

/** Builds guest images by recipe and keeps them in a cache shared by every process on this host. */
export interface ImageBuilder {
  /** The id the named runtime's image has now, whether or not it exists. */
  idOf(runtime: string): Promise<string>;
  /** The image when it exists and is whole, else null. Never builds. */
  find(runtime: string): Promise<Image | null>;
  /** Makes the image if it is absent. Safe against two builders, in this process or in others: one builds, the others wait. */
  ensure(runtime: string, progress: ReportProgress, signal: AbortSignal): Promise<Image>;
}
