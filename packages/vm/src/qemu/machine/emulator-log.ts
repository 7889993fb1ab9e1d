/**
 * What a VM's QEMU prints, in a file that no guest makes grow: a guest that breaks a device again and again has QEMU print a
 * line each time.
 *
 *   qemu.log       the last of it, at most `maxBytes`
 *   qemu.log.pipe  where QEMU prints: a FIFO of 64 KiB that both ends may read and write, so it needs no reader and outlives
 *                  us like the VM does
 *
 * The pipe does not block. What it has no room for is lost and QEMU goes on, whether we are quick, slow or gone. While there
 * is a control connection the pipe is emptied into the file every few seconds, and once more when the connection ends.
 */
import { execFile } from 'node:child_process';
import { constants, open, readFile, rm, writeFile } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { Qmp } from './qmp.ts';

const run = promisify(execFile);
const everyMs = 5000;
/** What a pipe holds. */
const pieceBytes = 65_536;
/** The file holds this much at most, and half of it when its beginning was dropped. */
export const maxBytes = 256 * 1024;
/**
 * Said on every start, of nothing that is wrong: a machine may be made larger than its host has processors, and device state
 * is saved without a description.
 */
const harmless = ['exceeds the recommended cpus supported by KVM', 'Expected vmdescription section'];
/** Of a failure this much is told. */
const tailBytes = 1024;

export class EmulatorLog {
  private readonly path: string;
  private readonly pipe: FileHandle;
  private underway: Promise<void> = Promise.resolve();
  private last: Buffer = Buffer.alloc(0);

  private constructor(path: string, pipe: FileHandle) {
    this.path = path;
    this.pipe = pipe;
  }

  /** For a QEMU that is about to start. `path` is the file's. */
  static async create(path: string): Promise<EmulatorLog> {
    const pipe = pipeOf(path);
    await rm(pipe, { force: true });
    await run('mkfifo', ['-m', '600', pipe]);
    await writeFile(path, '', { flag: 'a', mode: 0o600 });
    return new EmulatorLog(path, await open(pipe, constants.O_RDWR | constants.O_NONBLOCK));
  }

  /** Of a QEMU that runs; null when it has none, for a release before this one started it. */
  static async find(path: string): Promise<EmulatorLog | null> {
    const flags = constants.O_RDONLY | constants.O_NONBLOCK;
    const pipe = await open(pipeOf(path), flags).catch(() => null);
    return pipe && new EmulatorLog(path, pipe);
  }

  /** What a command is started with as its descriptor 3. */
  get fd(): number {
    return this.pipe.fd;
  }

  /** The command, printing into descriptor 3. As 1 and 2 Node would hand it over blocking, for everybody who has it. */
  static printing(command: readonly string[]): string[] {
    return ['sh', '-c', 'exec "$@" >&3 2>&3 3>&-', 'sh', ...command];
  }

  /** Empties the pipe into the file. */
  collect(): Promise<void> {
    this.underway = this.underway.then(() => this.take());
    return this.underway;
  }

  /** The end of what this QEMU has printed, as far as it means anything; the file may begin with what others before it have. */
  async tail(): Promise<string> {
    await this.collect();
    const lines = this.last.toString('utf8').split('\n');
    return lines
      .filter((line) => !harmless.some((words) => line.includes(words)))
      .join('\n')
      .trim();
  }

  /** Keeps the file up to date until the connection ends. */
  follow({ closed }: Pick<Qmp, 'closed'>): void {
    const timer = setInterval(() => void this.collect(), everyMs);
    timer.unref();
    void closed.then(async () => {
      clearInterval(timer);
      await this.collect();
      await this.close();
    });
  }

  async close(): Promise<void> {
    await this.underway;
    await this.pipe.close();
  }

  /** One look: a pipe that is filled as fast as it is read does not keep us here. */
  private async take(): Promise<void> {
    try {
      const { buffer, bytesRead } = await this.pipe.read(Buffer.alloc(pieceBytes), 0, pieceBytes, null);
      if (bytesRead === 0) return;
      const piece = buffer.subarray(0, bytesRead);
      this.last = Buffer.concat([this.last, piece]).subarray(-tailBytes);
      await keep(this.path, piece);
    } catch {
      // Empty, or the folder was removed meanwhile: there is nothing to keep.
    }
  }
}

/** Makes no file: where it is gone, its folder is being removed. */
async function keep(path: string, piece: Buffer): Promise<void> {
  const file = await open(path, constants.O_RDWR | constants.O_APPEND);
  try {
    const { size } = await file.stat();
    if (size + piece.length > maxBytes) {
      // A log of an earlier release may be of any length; that much can be thrown away unread.
      const old = size <= maxBytes ? await readFile(path) : Buffer.alloc(0);
      const all = Buffer.concat([old, piece]);
      const last = all.subarray(-maxBytes / 2);
      await file.truncate(0);
      // From the first whole line on.
      await file.write(last, last.length < all.length ? last.indexOf('\n') + 1 : 0);
    } else {
      await file.write(piece);
    }
  } finally {
    await file.close();
  }
}

function pipeOf(path: string): string {
  return `${path}.pipe`;
}
