/** The QEMU of this host and its abilities. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { architecture } from './architecture.ts';

const run = promisify(execFile);

export interface Emulator {
  /** The version line, with the distribution's revision: saved device state belongs to exactly one. */
  readonly version: string;
  /** Whether it can map a file copy-on-write without being able to write it (QEMU 8.2 and later). */
  readonly mapsReadOnly: boolean;
}

/** The bound of any start of QEMU: on a slow host one took longer than 10 s to print its help. */
const answerMs = 120_000;

export async function inspectEmulator(): Promise<Emulator> {
  const options = { timeout: answerMs };
  const [version, memoryFile] = await Promise.all([
    run(architecture.emulator, ['--version'], options),
    run(architecture.emulator, ['-object', 'memory-backend-file,help'], options),
  ]);
  return { version: version.stdout.split('\n')[0] ?? '', mapsReadOnly: /^\s*rom=/m.test(memoryFile.stdout) };
}
