/**
 * The rate of the counter that an emulated x86 guest takes its time from (TSC). Under emulation the guest reads the host's
 * counter, and no register tells it how quickly that one runs, so its kernel measures it against an emulated timer as it
 * boots. On a busy host it measures wrongly: Linux 6.1 finds that two of its measurements differ by a factor of up to nine,
 * and takes the worse one ("PIT calibration deviates from PMTIMER ... Using PIT calibration value"). Every clock of that
 * guest, and of all clones of a template that booted so, then runs ahead. So the host measures it, and tells the kernel
 * (docs/adr/0077-rate-of-an-emulated-counter.md).
 *
 * The counter is asked from within an emulated machine: a firmware of fifty bytes answers each byte on its serial port by
 * the counter's eight. An answer lies between two readings of the host's clock, so each pair of answers has a known error.
 */
import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { passableFolder, readJson, replaceFile } from '../host/files.ts';
import { lock } from '../host/lock.ts';
import { architecture } from './architecture.ts';
import { confine, templateGid } from './confinement.ts';

type Probe = ChildProcessByStdio<Writable, Readable, Readable>;

/** A reading of the counter, between two of the host's clock, ms. */
interface Reading {
  readonly askedMs: number;
  readonly answeredMs: number;
  readonly counter: bigint;
}

/** The kernel corrects the rate that it is told by what it measures later, as long as they differ by less than a percent. */
const wantedError = 0.001;
const sameRate = 0.01;
const shortestMs = 200;
const pauseMs = 20;
const longestMs = 30_000;

/**
 * The rate for this host, kHz. It is kept beside the templates, and a later measurement changes it only where it is another
 * host's: device state is of one rate, and measurements differ a little. Rejects if QEMU does not run.
 */
export async function counterKhz(cacheDir: string): Promise<number> {
  const measured = await measureCounterKhz();
  const file = join(cacheDir, 'counter.json');
  const unlock = await lock(`counter ${file}`, { timeoutMs: longestMs });
  try {
    const kept = (await readJson<{ readonly khz: unknown }>(file))?.khz;
    if (typeof kept === 'number' && isSameRate(measured, kept)) return kept;
    await passableFolder(cacheDir);
    await replaceFile(file, `${JSON.stringify({ khz: measured })}\n`);
    return measured;
  } finally {
    unlock();
  }
}

/** Whether device state of one rate runs at the other: its guest does not measure the counter again. */
export function isSameRate(khz: number | null, other: number | null): boolean {
  if (khz === null || other === null) return khz === other;
  return Math.abs(khz / other - 1) < sameRate;
}

export async function measureCounterKhz(): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'lodge-counter-'));
  try {
    // QEMU reads it as a user without rights.
    await chmod(folder, 0o755);
    const path = join(folder, 'firmware');
    await writeFile(path, firmware());
    return await measure(path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function measure(path: string): Promise<number> {
  const qemu = [
    [architecture.emulator, '-nodefaults', '-no-user-config', '-display', 'none', '-serial', 'stdio'],
    ['-machine', 'q35', '-accel', 'tcg', '-cpu', architecture.processor('tcg'), '-m', '16', '-bios', path],
  ].flat();
  const to = { uid: templateGid, groups: [], namespace: null, fileSizeLimit: 0, dieWithParent: true };
  const [file, ...parameters] = confine(qemu, to);
  const child = spawn(file!, parameters, { stdio: ['pipe', 'pipe', 'pipe'], cwd: '/' });
  const timer = setTimeout(() => child.kill('SIGKILL'), longestMs * 2);
  try {
    return await rateFrom(child);
  } finally {
    clearTimeout(timer);
    child.kill('SIGKILL');
  }
}

async function rateFrom(child: Probe): Promise<number> {
  const ask = asker(child);
  const started = performance.now();
  let first = await ask();
  for (;;) {
    await sleep(pauseMs);
    const last = await ask();
    const passedMs = middleMs(last) - middleMs(first);
    const error = (widthMs(first) + widthMs(last)) / 2 / passedMs;
    const isOver = performance.now() - started > longestMs;
    if ((passedMs >= shortestMs && error <= wantedError) || isOver) {
      return Math.round(Number(last.counter - first.counter) / passedMs);
    }
    // The better one is the one to measure from; time passes, and makes up for the rest.
    if (widthMs(last) < widthMs(first) && passedMs < shortestMs) first = last;
  }
}

const widthMs = ({ askedMs, answeredMs }: Reading): number => answeredMs - askedMs;
const middleMs = ({ askedMs, answeredMs }: Reading): number => (askedMs + answeredMs) / 2;

/** Asks for one reading at a time. The process has a bound on its life, so every question has one. */
function asker(child: Probe): () => Promise<Reading> {
  let told = Buffer.alloc(0);
  let complaint = '';
  let hear: (() => void) | null = null;
  let ended: Error | null = null;
  const end = (why: string): void => {
    ended ??= new Error(`the counter of emulated guests was not measured: ${why}`);
    hear?.();
  };
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaint = (complaint + text).slice(-1000)));
  child.stdin.on('error', () => {});
  child.once('error', (error) => end(error.message));
  child.once('close', (code, signal) => end(`QEMU ended (${signal ?? code}): ${complaint.trim()}`));
  child.stdout.on('data', (bytes: Buffer) => {
    told = Buffer.concat([told, bytes]).subarray(-64);
    hear?.();
  });
  return async () => {
    told = Buffer.alloc(0);
    const askedMs = performance.now();
    child.stdin.write('?');
    while (told.length < 8) {
      if (ended) throw ended;
      await new Promise<void>((resolve) => (hear = resolve));
    }
    return { askedMs, answeredMs: performance.now(), counter: told.readBigUInt64LE(0) };
  };
}

const firmwareBytes = 65_536;

/** Real-mode code; a processor begins sixteen bytes before the firmware's end. */
function firmware(): Buffer {
  const fourBytes = Array.from({ length: 4 }, () => [0xee, 0x66, 0xc1, 0xe8, 0x08]).flat(); // out dx,al; shr eax,8
  const loop = [
    [0xba, 0xfd, 0x03, 0xec, 0xa8, 0x01, 0x74, 0xf8], // mov dx,3fdh; in al,dx; test al,1; jz: until a byte has come
    [0xba, 0xf8, 0x03, 0xec], // mov dx,3f8h; in al,dx: takes it
    [0x0f, 0x31, 0x66, 0x89, 0xc3, 0x66, 0x89, 0xd1], // rdtsc; mov ebx,eax; mov ecx,edx
    [0xba, 0xf8, 0x03, 0x66, 0x89, 0xd8, ...fourBytes], // mov dx,3f8h; mov eax,ebx
    [0x66, 0x89, 0xc8, ...fourBytes], // mov eax,ecx
  ].flat();
  const code = Buffer.from([...loop, 0xeb, 256 - loop.length - 2]); // jmp: to the loop's start
  const image = Buffer.alloc(firmwareBytes, 0xf4);
  const start = firmwareBytes - 16 - code.length;
  code.copy(image, start);
  // jmp: back to the code, which ends where the processor begins
  Buffer.from([0xeb, 256 - code.length - 2]).copy(image, firmwareBytes - 16);
  return image;
}
