/**
 * Runs tests of machines on KVM, on a host that need have none: in a Debian machine under emulation that has a working /dev/kvm.
 *   test-kvm.ts                 one life of a bare guest
 *   test-kvm.ts FILE...         these test files
 *   test-kvm.ts round [LIVES]   a whole Lodge as a service, and a round with real runtimes through it (kvm/round)
 * Every line has the seconds since the start. The machine's disk is kept in the cache; what a run writes is not.
 */
import { access, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createImageBuilder } from '@lodge/images';
import { run } from '@lodge/images/tools';
import { emulator } from './kvm/emulator.ts';
import { machineDisk, writeJobDisk, type Work } from './kvm/machine-disk.ts';
import { liveOnce } from './kvm/machine.ts';

const shortForm = ['packages/vm/conformance/qemu-life.test.ts'];
const defaultLives = '5';
const minuteMs = 60_000;
const bounds = { timeoutMs: 240 * minuteMs, silenceMs: 40 * minuteMs };

const started = performance.now();
const cacheDir = process.env['LODGE_CACHE_DIR'] ?? '/var/cache/lodge';
const checkout = join(import.meta.dirname, '..');
const asked = process.argv.slice(2);
const work: Work =
  asked[0] === 'round' ? { lives: Number(asked[1] ?? defaultLives) } : { files: asked.length > 0 ? asked : shortForm };
const isRound = 'lives' in work;
const memoryMib = isRound ? 8192 : 6144;
const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: console.error };
const context = { log: silent, signal: AbortSignal.timeout(60 * minuteMs) };

const qemu = await emulator(cacheDir, (step) => say(`emulator: ${step}`), context);
const machine = await machineDisk(cacheDir, (step) => say(`machine: ${step}`), context);
const builder = createImageBuilder({ cacheDir, log: silent });
const images: Record<string, string> = {};
for (const name of isRound ? ['hermes', 'openclaw'] : ['base']) {
  const image = await builder.ensure(name, (step) => say(`image: ${step}`), context.signal);
  images[image.id] = join(image.rootDisk, '..');
}
const scratch = await newScratch();
try {
  say('writing the disk of the job');
  const jobDisk = join(scratch, 'job.raw');
  await writeJobDisk({ disk: jobDisk, scratch, checkout, images, work }, context);
  const overlay = join(scratch, 'overlay.qcow2');
  const create = ['qemu-img', 'create', '-q', '-f', 'qcow2', '-F', 'qcow2', '-b', machine.disk, overlay] as const;
  await run({ argv: create, timeoutMs: minuteMs, advice: 'Check that the disk has room.' }, context);
  const live = (): Promise<number | 'again'> => {
    say('starting the machine');
    const consoleFile = join(scratch, 'console');
    return liveOnce({ emulator: qemu, machine, overlay, jobDisk, consoleFile, memoryMib, onLine: say, ...bounds });
  };
  let status = await live();
  if (status === 'again') status = await live();
  if (status === 'again') throw new Error('the machine wants a third life');
  say(status === 0 ? 'all tests passed' : 'tests FAILED');
  process.exitCode = status;
} finally {
  await rm(scratch, { recursive: true, force: true });
}

/** A folder for what this run writes. Those of runs that were killed go. */
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
