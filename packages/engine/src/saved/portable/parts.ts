import type { GuestTrees, PortableFiles } from '@lodge/ports';

/** Parts of exports and imports beside the engine's own. */
export interface PortableParts {
  readonly trees: GuestTrees;
  readonly files: PortableFiles;
  /** Most bytes of an import. */
  readonly maxImportBytes: number;
}
