/**
 * Keeps the output of a VM's QEMU in a file of bounded size: a guest that breaks a device again and again makes QEMU print a
 * line each time.
 *
 *   qemu.log       the last of it, at most `maxBytes`
 *   qemu.log.pipe  where QEMU prints: a FIFO of 64 KiB that both ends may read and write, so it needs no reader and outlives
 *                  the control plane like the VM does
 *
 * The pipe does not block. Output that does not fit is lost and QEMU goes on, whether the control plane is quick, slow or
 * gone. While there is a control connection the pipe is emptied into the file every few seconds, and once more when the
 * connection ends.
 */
import { execFile } from 'node:child_process';
import { constants, open, readFile, rm, writeFile } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { Qmp } from './qmp.ts';

const run = promisify(execFile);
const everyMs = 5000;
/** The capacity of a pipe. */
const pieceBytes = 65_536;
/** The file's largest size; it shrinks to half of it when its beginning is dropped. */
export const maxBytes = 256 * 1024;
/**
 * Lines that every start prints and that report no trouble: a machine may be made larger than its host has processors, and
 * device state is saved without a description.
 */
const harmless = ['exceeds the recommended cpus supported by KVM', 'Expected vmdescription section'];
/** Bytes that a failure reports. */
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

  /** Makes the log of a QEMU that is about to start. `path` is the file's. */
  static async create(path: string): Promise<EmulatorLog> {
    const pipe = pipeOf(path);
    await rm(pipe, { force: true });
    await run('mkfifo', ['-m', '600', pipe]);
    await writeFile(path, '', { flag: 'a', mode: 0o600 });
    return new EmulatorLog(path, await open(pipe, constants.O_RDWR | constants.O_NONBLOCK));
  }

  /** Finds the log of a running QEMU; null when it has none, because an older release started it. */
  static async find(path: string): Promise<EmulatorLog | null> {
    const flags = constants.O_RDONLY | constants.O_NONBLOCK;
    const pipe = await open(pipeOf(path), flags).catch(() => null);
    return pipe && new EmulatorLog(path, pipe);
  }

  /** The command's descriptor 3. */
  get fd(): number {
    return this.pipe.fd;
  }

  /** The command, printing into descriptor 3. As 1 and 2 Node would pass it on in blocking mode, for every holder. */
  static printing(command: readonly string[]): string[] {
    return ['sh', '-c', 'exec "$@" >&3 2>&3 3>&-', 'sh', ...command];
  }

  /** Empties the pipe into the file. */
  collect(): Promise<void> {
    this.underway = this.underway.then(() => this.take());
    return this.underway;
  }

  /** The end of this QEMU's meaningful output; the file may begin with output of earlier ones. */
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

  /** Looks once: a pipe that is filled as fast as it is read must not keep the caller here. */
  private async take(): Promise<void> {
    try {
      const { buffer, bytesRead } = await this.pipe.read(Buffer.alloc(pieceBytes), 0, pieceBytes, null);
      if (bytesRead === 0) return;
      const piece = buffer.subarray(0, bytesRead);
      this.last = Buffer.concat([this.last, piece]).subarray(-tailBytes);
      await keep(this.path, piece);
    } catch {
      // The pipe is empty, or the folder was removed meanwhile.
    }
  }
}

/** Makes no file: a missing one means that its folder is being removed. */
async function keep(path: string, piece: Buffer): Promise<void> {
  const file = await open(path, constants.O_RDWR | constants.O_APPEND);
  try {
    const { size } = await file.stat();
    if (size + piece.length > maxBytes) {
      // An older release's log may have any length; that part can be dropped unread.
      const old = size <= maxBytes ? await readFile(path) : Buffer.alloc(0);
      const all = Buffer.concat([old, piece]);
      const last = all.subarray(-maxBytes / 2);
      await file.truncate(0);
      // The kept part begins with a whole line.
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
