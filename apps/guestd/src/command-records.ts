import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive, killSession, processStat } from './processes.ts';

/**
 * Which commands run, in files that a boot takes away: a daemon that starts after a crash ends those of the one before,
 * whose time limits and callers went with it.
 */
export class CommandRecords {
  private readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
    mkdirSync(folder, { recursive: true });
    this.endAll();
  }

  /** Records the process until it is disposed of. */
  add(pid: number | undefined): Disposable {
    const stat = pid === undefined ? null : processStat(pid);
    if (stat === null) return { [Symbol.dispose]: () => undefined };
    const file = join(this.folder, `${stat.pid}-${stat.startTime}`);
    try {
      writeFileSync(file, '');
    } catch {
      // Without its record the command runs all the same, and longer if the daemon fails.
    }
    return { [Symbol.dispose]: () => rmSync(file, { force: true }) };
  }

  private endAll(): void {
    for (const name of readdirSync(this.folder)) {
      const [pid = NaN, startTime = NaN] = name.split('-').map(Number);
      if (isAlive({ pid, startTime })) killSession(pid);
      rmSync(join(this.folder, name), { force: true });
    }
  }
}
