/** The parts of a check of the host's weaknesses. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ifThere } from '@lodge/domain';
import type { Accelerator, Emulator } from '@lodge/vm';
import type { Config } from '../../config/config.ts';
import type { Finding } from '../finding.ts';

/** The inputs of all checks, which change nothing. */
export interface HostFacts {
  readonly config: Config;
  /** The folder that stands for `/`: the kernel's files are read below it. */
  readonly root: string;
  /** People with an account; null if the database was not asked. */
  readonly people: number | null;
  /** Null if none is installed. */
  readonly emulator: Emulator | null;
  /** The accelerator of present or future agents; null if it was not tried yet. */
  readonly accelerator: Accelerator | null;
  /** Most virtual machines at one time. */
  readonly guests: number;
  /** Whether other machines set the system's clock; null if nothing says so. */
  readonly clockIsSet: boolean | null;
}

/** Checks one weakness of this Lodge: `warn`, or `fail` if it must not continue like this. */
export interface Check {
  readonly name: string;
  readonly look: (facts: HostFacts, name: string) => Promise<Finding> | Finding;
}

/** A file of the host; null if there is none. */
export async function fileOf({ root }: HostFacts, path: string): Promise<string | null> {
  return ifThere(readFile(join(root, path), 'utf8'), 'ENOTDIR');
}

/** Whether accounts of several people share this host, or soon may. */
export const hasSeveralPeople = ({ people, config }: HostFacts): boolean =>
  config.registration === 'open' || (people ?? 0) > 1;
