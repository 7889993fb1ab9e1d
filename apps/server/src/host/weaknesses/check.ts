/** What a check of the host's weaknesses is made of. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Accelerator, Emulator } from '@lodge/vm';
import type { Config } from '../../config/config.ts';
import type { Finding } from '../finding.ts';

/** What all checks look at. They change nothing. */
export interface HostFacts {
  readonly config: Config;
  /** The folder that stands for `/`: what the kernel tells of itself is read below it. */
  readonly root: string;
  /** People with an account; null where the database was not asked. */
  readonly people: number | null;
  /** Null where none is installed. */
  readonly emulator: Emulator | null;
  /** What agents run on, or will; null where it was not tried yet. */
  readonly accelerator: Accelerator | null;
  /** Virtual machines that there can be at one time. */
  readonly guests: number;
  /** Whether the system's clock is set by others; null where nothing tells. */
  readonly clockIsSet: boolean | null;
}

/** Looks at one thing that makes this Lodge weaker than it can be: `warn`, or `fail` where it must not go on so. */
export interface Check {
  readonly name: string;
  readonly look: (facts: HostFacts, name: string) => Promise<Finding> | Finding;
}

/** A file of the host; null where there is none. */
export async function fileOf({ root }: HostFacts, path: string): Promise<string | null> {
  return readFile(join(root, path), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw error;
  });
}

/** Whether accounts of several people share this host, or soon may. */
export const hasSeveralPeople = ({ people, config }: HostFacts): boolean =>
  config.registration === 'open' || (people ?? 0) > 1;
