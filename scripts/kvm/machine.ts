/** One life of the machine with KVM, under emulation. QEMU's emulator has AMD's SVM, so KVM works in it, slowly. */
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { MachineDisk } from './machine-disk.ts';

export interface Life {
  readonly emulator: readonly [string, ...string[]];
  readonly machine: MachineDisk;
  /** A qcow2 file over the machine's disk, with everything that this life writes. */
  readonly overlay: string;
  readonly jobDisk: string;
  /** File for its kernel's messages, for a failure. */
  readonly consoleFile: string;
  readonly memoryMib: number;
  readonly onLine: (line: string) => void;
  /** Bounds on the whole life, and on a time without a line. */
  readonly timeoutMs: number;
  readonly silenceMs: number;
}

/**
 * Returns the job's status, or `again` when it wants another life of the machine. Rejects when the machine ends without one,
 * or a bound has passed; its QEMU is gone then.
 */
export async function liveOnce(life: Life): Promise<number | 'again'> {
  // It ends with this process in every case.
  const parameters = ['--pdeathsig', 'KILL', '--', ...commandLine(life)];
  // Its standard input stays open, because QEMU would take its end for a cut line of the job.
  const qemu = spawn('setpriv', parameters, { stdio: ['pipe', 'pipe', 'inherit'] });
  const { promise: ended, resolve, reject } = Promise.withResolvers<number | 'again' | null>();
  let status: number | 'again' | null = null;
  const give = (why: string): void => {
    qemu.kill('SIGKILL');
    reject(new Error(why));
  };
  const whole = setTimeout(() => give(`the machine was not done in ${minutes(life.timeoutMs)}`), life.timeoutMs);
  const silence = setTimeout(() => give(`the machine said nothing for ${minutes(life.silenceMs)}`), life.silenceMs);
  createInterface({ input: qemu.stdout }).on('line', (line) => {
    silence.refresh();
    const end = /^@end (\d{1,3})$/.exec(line.trim());
    if (end) status = Number(end[1]);
    else if (line.trim() === '@again') status = 'again';
    else life.onLine(line);
  });
  qemu.once('error', reject);
  qemu.once('close', () => resolve(status));
  try {
    const said = await ended;
    if (said !== null) return said;
    throw new Error(`the machine ended before its job:\n${(await readFile(life.consoleFile, 'utf8')).slice(-4000)}`);
  } finally {
    clearTimeout(whole);
    clearTimeout(silence);
  }
}

function commandLine({ emulator, machine, overlay, jobDisk, consoleFile, memoryMib }: Life): string[] {
  const disk = (name: string, options: string): string[] => ['-drive', `file=${name},if=virtio,${options}`];
  return [
    [...emulator, '-name', 'lodge-kvm-tests', '-nodefaults', '-display', 'none', '-no-reboot'],
    ['-machine', 'q35', '-accel', 'tcg,thread=multi,tb-size=1024', '-cpu', 'max', '-smp', '2', '-m', `${memoryMib}`],
    ['-kernel', machine.kernel, '-initrd', machine.initrd],
    ['-append', 'root=LABEL=machine rw console=ttyS0 mitigations=off quiet systemd.journald.forward_to_console=1'],
    disk(overlay, 'format=qcow2,cache=unsafe,discard=unmap'),
    disk(jobDisk, 'format=raw,cache=unsafe,readonly=on'),
    ['-device', 'virtio-rng-pci', '-serial', `file:${consoleFile}`],
    ['-device', 'virtio-serial-pci', '-chardev', 'stdio,id=job,signal=off'],
    ['-device', 'virtserialport,chardev=job,name=lodge.job'],
  ].flat();
}

const minutes = (ms: number): string => `${Math.round(ms / 60_000)} minutes`;
