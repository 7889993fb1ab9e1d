/**
 * A Lodge's use of its host: memory of its processes without emulators and database, and free space on the disk of its
 * agents.
 */
import { readFile, readdir, readlink, statfs } from 'node:fs/promises';
import { basename } from 'node:path';

export interface Resources {
  /** Resident memory of machine host, control plane and relays together, in MiB. */
  readonly memoryMib: number;
  readonly diskFreeMib: number;
}

const mib = 2 ** 20;
const everyMs = 500;

export interface Place {
  /** The process that has started all others. */
  readonly pid: number;
  readonly dataDir: string;
}

export async function resourcesOf({ pid, dataDir }: Place): Promise<Resources> {
  const { bavail, bsize } = await statfs(dataDir);
  const sizes = await Promise.all((await programsBelow(pid)).map(residentKib));
  return {
    memoryMib: Math.round(sizes.reduce((sum, size) => sum + size, 0) / 1024),
    diskFreeMib: Math.round((bavail * bsize) / mib),
  };
}

/** The most memory and the least free disk while it looked. */
export class Watch {
  readonly #place: Place;
  #most = 0;
  #least = Infinity;
  #looking: Promise<void> = Promise.resolve();
  readonly #timer: NodeJS.Timeout;

  constructor(place: Place) {
    this.#place = place;
    this.#timer = setInterval(() => {
      this.#looking = this.#looking.then(() => this.#look());
    }, everyMs);
  }

  async end(): Promise<Resources> {
    clearInterval(this.#timer);
    await this.#looking;
    await this.#look();
    return { memoryMib: this.#most, diskFreeMib: this.#least };
  }

  async #look(): Promise<void> {
    const { memoryMib, diskFreeMib } = await resourcesOf(this.#place);
    this.#most = Math.max(this.#most, memoryMib);
    this.#least = Math.min(this.#least, diskFreeMib);
  }
}

/** The process and all below it that run our own program. */
async function programsBelow(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const below = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, 'utf8').catch(() => '')),
  );
  const children = below.flatMap((text) => text.trim().split(' ').filter(Boolean).map(Number));
  const found = await Promise.all(children.map(programsBelow));
  const program = await readlink(`/proc/${pid}/exe`).catch(() => '');
  return [...(basename(program) === 'node' ? [pid] : []), ...found.flat()];
}

async function residentKib(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0);
}
