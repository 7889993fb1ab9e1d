/**
 * Hardware virtualisation or emulation. The existence of `/dev/kvm` proves little: a nested host may offer one on which a
 * stock kernel hangs or QEMU fails an assertion. So a guest with Lodge's own kernel is started on it, and KVM counts when
 * that guest's kernel reaches its first process. The answer is kept beside the templates, for this host, kernel and QEMU.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { release } from 'node:os';
import { join } from 'node:path';
import type { Image } from '@lodge/ports';
import { architecture } from './architecture.ts';
import type { Accelerator } from './architecture.ts';
import { confine, templateGid } from './confinement.ts';
import { hasKvmDevice, openKvmDevice } from './device-nodes.ts';
import { processorFacts } from './saved-on.ts';

export interface AcceleratorAnswer {
  readonly accelerator: Accelerator;
  /** The reason, for a person. */
  readonly reason: string;
  /** Groups that QEMU must be in to use it. */
  readonly groups: readonly number[];
}

export interface AcceleratorQuestion {
  readonly setting: 'auto' | Accelerator;
  readonly cacheDir: string;
  /** The image whose kernel and initrd are tried. */
  readonly image: Pick<Image, 'kernel' | 'initrd'>;
  readonly emulatorVersion: string;
}

/** A kernel is up in a second or two where KVM works, nested in an emulator in half a minute; otherwise it never is. */
const trialTimeoutMs = 180_000;
/** The kernel's line when it starts the first process; everything before it has worked then. */
const bootedLine = 'Run /init as init process';

export async function chooseAccelerator(question: AcceleratorQuestion): Promise<AcceleratorAnswer> {
  if (question.setting === 'tcg') return { accelerator: 'tcg', reason: 'set by the operator', groups: [] };
  const groups = await openKvmDevice();
  if (question.setting === 'kvm') return { accelerator: 'kvm', reason: 'set by the operator', groups: groups ?? [] };
  if (groups === null) return { accelerator: 'tcg', reason: 'this host has no /dev/kvm', groups: [] };
  const key = await hostKey(question.emulatorVersion);
  const file = answersFile(question);
  const known = await remembered(file);
  const failure = known.get(key) ?? (await tryBoot('kvm', question.image, groups));
  if (!known.has(key)) await remember(file, key, failure);
  return failure === ''
    ? { accelerator: 'kvm', reason: 'a guest booted on /dev/kvm', groups }
    : { accelerator: 'tcg', reason: `no guest boots on /dev/kvm: ${failure}`, groups: [] };
}

/** The answer of `chooseAccelerator`, as far as it is known: null where it would have to try. */
export async function expectedAccelerator(question: Omit<AcceleratorQuestion, 'image'>): Promise<Accelerator | null> {
  if (question.setting !== 'auto') return question.setting;
  if (!(await hasKvmDevice())) return 'tcg';
  const failure = (await remembered(answersFile(question))).get(await hostKey(question.emulatorVersion));
  if (failure === undefined) return null;
  return failure === '' ? 'kvm' : 'tcg';
}

/** Boots a guest without disk or network. Returns the empty string when its kernel came up, else the failure. */
export async function tryBoot(
  accelerator: Accelerator,
  image: Pick<Image, 'kernel' | 'initrd'>,
  groups: readonly number[],
  timeoutMs = trialTimeoutMs,
): Promise<string> {
  const { emulator, machine, processor, console: serial, kernelParameters } = architecture;
  const qemu = [
    [emulator, '-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot', '-serial', 'stdio'],
    ['-machine', machine, '-object', 'memory-backend-ram,id=ram,size=512M'],
    ['-accel', accelerator, '-cpu', processor(accelerator), '-smp', '2', '-m', '512'],
    ['-kernel', image.kernel, '-initrd', image.initrd],
    ['-append', `console=${serial} panic=-1 ${kernelParameters}`],
  ].flat();
  const to = { uid: templateGid, groups, namespace: null, fileSizeLimit: 0, dieWithParent: true };
  const [file, ...parameters] = confine(qemu, to);
  const child = spawn(file!, parameters, { stdio: ['ignore', 'pipe', 'pipe'], cwd: '/' });
  const verdict = Promise.withResolvers<string>();
  let console = '';
  let complaint = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    console = (console + text).slice(-65_536);
    if (console.includes(bootedLine)) verdict.resolve('');
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaint = (complaint + text).slice(-1000)));
  child.once('error', (error) => verdict.resolve(error.message));
  child.once('close', (code, signal) => verdict.resolve(`QEMU ended (${signal ?? code}): ${lastLine(complaint)}`));
  const timer = setTimeout(() => verdict.resolve(`the guest's kernel was not up in ${timeoutMs / 1000} s`), timeoutMs);
  try {
    return await verdict.promise;
  } finally {
    clearTimeout(timer);
    child.kill('SIGKILL');
  }
}

function answersFile({ cacheDir }: Pick<AcceleratorQuestion, 'cacheDir'>): string {
  return join(cacheDir, 'accelerator.json');
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}

/** The key of the answer: this processor, this host kernel, this QEMU. */
async function hostKey(emulatorVersion: string): Promise<string> {
  const facts = [emulatorVersion, release(), await processorFacts()];
  return createHash('sha256').update(facts.join('\n')).digest('hex').slice(0, 16);
}

async function remembered(file: string): Promise<Map<string, string>> {
  try {
    return new Map(Object.entries(JSON.parse(await readFile(file, 'utf8')) as Record<string, string>));
  } catch {
    // The file is absent or was cut short: the trial is cheap enough to be repeated.
    return new Map();
  }
}

async function remember(file: string, key: string, failure: string): Promise<void> {
  const known = await remembered(file);
  known.set(key, failure);
  await mkdir(join(file, '..'), { recursive: true });
  await writeFile(`${file}.${process.pid}`, `${JSON.stringify(Object.fromEntries(known))}\n`);
  await rename(`${file}.${process.pid}`, file);
}
