/**
 * Runs tests of machines on KVM, on a host that need not have it: in a Debian machine under emulation with a working
 * /dev/kvm.
 *   test-kvm.ts                 the driver's suite on QEMU, then a round
 *   test-kvm.ts short           one life of a bare guest
 *   test-kvm.ts FILE...         these test files; with TESTS_LONG=1 in their long form
 *   test-kvm.ts round [LIVES]   a whole Lodge as a service, and a round with real runtimes through it (kvm/round)
 *   test-kvm.ts benchmarks/FILE [ARGUMENT...]   this benchmark, with real runtimes and swap in compressed memory
 * Every line has the seconds since the start. The machine's disk is kept in the cache; the data of a run is not.
 */
import { access, glob, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createImageBuilder } from '@lodge/images';
import { run, type RunContext } from '@lodge/images/tools';
import { isLongRun } from '@lodge/testkit/forms';
import { emulator } from './kvm/emulator.ts';
import { machineDisk, writeJobDisk, type Work } from './kvm/machine-disk.ts';
import { liveOnce } from './kvm/machine.ts';

const suite = 'packages/vm/conformance/qemu*.test.ts';
/**
 * Files that take a quarter of an hour here. The places of files, and the driver's caller, are the same on every
 * accelerator, so `npm test` covers them.
 */
const apart = ['cache', 'remote'].map((name) => `packages/vm/conformance/qemu-${name}.test.ts`);
const shortForm = ['packages/vm/conformance/qemu-life.test.ts'];
const defaultLives = 5;
const minuteMs = 60_000;
const bounds = { timeoutMs: 240 * minuteMs, silenceMs: 40 * minuteMs };

const started = performance.now();
const cacheDir = process.env['LODGE_CACHE_DIR'] ?? '/var/cache/lodge';
const checkout = join(import.meta.dirname, '..');
const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: console.error };
/** Bounds one tool, or one build. */
const context = (): RunContext => ({ log: silent, signal: AbortSignal.timeout(60 * minuteMs) });

const qemu = await emulator(cacheDir, (step) => say(`emulator: ${step}`), context());
const machine = await machineDisk(cacheDir, (step) => say(`machine: ${step}`), context());
const builder = createImageBuilder({ cacheDir, log: silent });
const scratch = await newScratch();
try {
  const statuses: number[] = [];
  for (const work of await works(process.argv.slice(2))) statuses.push(await runWork(work));
  const status = Math.max(...statuses);
  say(status === 0 ? 'all tests passed' : 'tests FAILED');
  process.exitCode = status;
} finally {
  await rm(scratch, { recursive: true, force: true });
}

async function works([asked, ...more]: readonly string[]): Promise<Work[]> {
  if (asked === 'round') return [{ lives: Number(more[0] ?? defaultLives) }];
  if (asked === 'short') return [{ files: shortForm }];
  if (asked?.startsWith('benchmarks/')) return [{ benchmark: [asked, ...more] }];
  if (asked !== undefined) return [{ files: [asked, ...more] }];
  const files = await Array.fromAsync(glob(suite, { cwd: checkout, exclude: apart }));
  return [{ files: files.sort() }, { lives: defaultLives }];
}

/** Runs work in a new machine and returns its status. Everything that it wrote is gone. */
async function runWork(work: Work): Promise<number> {
  const isBare = 'files' in work;
  const images: Record<string, string> = {};
  for (const name of isBare ? ['base'] : ['hermes', 'openclaw']) {
    const image = await builder.ensure(name, (step) => say(`image: ${step}`), context().signal);
    images[image.id] = join(image.rootDisk, '..');
  }
  say('writing the disk of the job');
  const jobDisk = join(scratch, 'job.raw');
  await writeJobDisk({ disk: jobDisk, scratch, checkout, images, work, isLong: isLongRun }, context());
  const overlay = join(scratch, 'overlay.qcow2');
  await rm(overlay, { force: true });
  const create = ['qemu-img', 'create', '-q', '-f', 'qcow2', '-F', 'qcow2', '-b', machine.disk, overlay] as const;
  await run({ argv: create, timeoutMs: minuteMs, advice: 'Check that the disk has room.' }, context());
  const live = (): Promise<number | 'again'> => {
    say('starting the machine');
    const consoleFile = join(scratch, 'console');
    const memoryMib = isBare ? 6144 : 'lives' in work ? 8192 : 12_288;
    return liveOnce({ emulator: qemu, machine, overlay, jobDisk, consoleFile, memoryMib, onLine: say, ...bounds });
  };
  let status = await live();
  if (status === 'again') status = await live();
  if (status === 'again') throw new Error('the machine wants a third life');
  return status;
}

/** Makes a folder for this run's data and removes those of killed runs. */
async function newScratch(): Promise<string> {
  const prefix = 'kvm-run-';
  for (const name of (await readdir(cacheDir)).filter((entry) => entry.startsWith(prefix))) {
    const runs = await access(`/proc/${name.slice(prefix.length)}`).then(
      () => true,
      () => false,
    );
    if (!runs) await rm(join(cacheDir, name), { recursive: true, force: true });
  }
  const own = join(cacheDir, `${prefix}${process.pid}`);
  await mkdir(own);
  return own;
}

function say(line: string): void {
  process.stdout.write(`${((performance.now() - started) / 1000).toFixed(0).padStart(6)} ${line}\n`);
}
