/**
 * The machine of every guest, as QEMU's command line. Template, clone and cold boot get the same devices in the same order,
 * because saved device state loads into no other machine. Sizes differ by devices that are plugged in afterwards
 * (`hotplug.ts`).
 *
 * There is no memory balloon on purpose. A clone maps the template's memory file privately, and QEMU discards a ballooned or
 * reported page by punching a hole into that file, so one guest would take pages away from every other
 * (docs/adr/0005-no-balloon.md).
 */
import { credentialParameter } from '@lodge/guest';
import { architecture } from './architecture.ts';
import type { Accelerator, Architecture } from './architecture.ts';
import { browserDevice } from './browser-device.ts';
import type { BrowserBacking } from './browser-device.ts';
import { diskDevice, requestBound } from './disk-rate.ts';

/** Devices from the start, and so in every template. */
export const bootVcpus = 2;
export const bootMemoryMib = 2048;
/** Bounds of what can be plugged in. */
export const maxVcpus = 4;
export const maxMemoryMib = 16_384;

export interface MemoryFile {
  readonly path: string;
  /**
   * `write`: the guest's writes go to the file. `copy`: the file stays as it is, and the guest's writes are in the process'
   * own pages.
   */
  readonly mode: 'write' | 'copy';
  /** Whether QEMU can map a file that it may not write (8.2 and later). */
  readonly readOnly: boolean;
}

export interface CommandLine {
  readonly accelerator: Accelerator;
  /** Rate of the emulated counter, kHz (`counter-rate.ts`); null where the guest learns it from its processor. */
  readonly counterKhz: number | null;
  /** The name in process lists. */
  readonly name: string;
  readonly kernel: string;
  readonly initrd: string;
  /** qcow2 file. */
  readonly disk: string;
  /** The browser's disk; null: no device for it, as in machines of earlier releases, whose saved state goes on. */
  readonly browser: BrowserBacking | null;
  /** Memory from a file; null: the process' own. */
  readonly memory: MemoryFile | null;
  readonly qmpSocket: string;
  readonly tap: string;
  /**
   * SHA-256 of the credential by which the daemon of a booting guest knows the host; the digest opens nothing. Null: the
   * first caller sets it.
   */
  readonly credentialDigest: string | null;
  /**
   * Whether device state comes through `migrate-incoming` before the machine runs; else it boots. Either way it starts
   * stopped.
   */
  readonly incoming: boolean;
  /** Number of vCPUs from the start: `bootVcpus`, or as many as a snapshot has. */
  readonly vcpus: number;
}

/**
 * Marks a QEMU process, and the wrappers that become it, as the one of this socket. QEMU ends a value at a comma, so no
 * folder of Lodge's has one in its name.
 */
export function qmpArgument(qmpSocket: string): string {
  return `socket,id=qmp,path=${qmpSocket},server=on,wait=off`;
}

export function qemuCommandLine(line: CommandLine, kind: Architecture = architecture): string[] {
  return [
    [kind.emulator, '-name', line.name],
    ['-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot', '-S'],
    ['-sandbox', 'on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny'],
    processors(line, kind),
    memory(line),
    ['-kernel', line.kernel, '-initrd', line.initrd, '-append', kernelParameters(line, kind)],
    disk(line.disk),
    ['-device', 'virtio-rng-pci'],
    ['-netdev', `tap,id=net0,ifname=${line.tap},script=no,downscript=no`],
    // The card has no option ROM: nobody boots from it, and the ROM's package need not be installed.
    ['-device', `virtio-net-pci,netdev=net0,mac=${guestMac},romfile=`],
    // The last PCI device: all others stay at the places that they have without it.
    line.browser === null ? [] : browserDevice(line.browser),
    // The console stays in QEMU's memory: a guest that floods it fills no disk.
    ['-chardev', 'ringbuf,id=console,size=65536', '-serial', 'chardev:console'],
    ['-chardev', qmpArgument(line.qmpSocket), '-mon', 'chardev=qmp,mode=control'],
    line.incoming ? ['-incoming', 'defer', '-global', 'migration.send-configuration=off'] : [],
  ].flat();
}

/** Every guest has the same MAC, because a clone wakes up with its template's. */
export const guestMac = '52:54:00:10:02:0f';

function processors(
  { accelerator, vcpus, memory: file }: CommandLine,
  { machine, processor, pluggedProcessor }: Architecture,
): string[] {
  const plugged = pluggedProcessor === null ? 0 : vcpus - 1;
  const translated = file?.mode === 'write' ? templateTranslationMib : translationMib;
  return [
    ['-machine', machine],
    ['-accel', accelerator === 'kvm' ? 'kvm' : `tcg,thread=multi,tb-size=${translated}`],
    ['-cpu', processor(accelerator)],
    ['-smp', `${pluggedProcessor === null ? maxVcpus : 1},maxcpus=${maxVcpus},sockets=1,cores=${maxVcpus},threads=1`],
    ...Array.from({ length: plugged }, (_, index) => index + 1).map((core) => [
      '-device',
      `${pluggedProcessor?.(accelerator)},id=cpu${core},socket-id=0,die-id=0,core-id=${core},thread-id=0`,
    ]),
  ].flat();
}

/** Emulation keeps translated code in a buffer of this size beside the guest's memory. */
export const translationMib = 512;
/** OpenClaw's start and first turn take 700 MiB of it. A full buffer is emptied, and all code is translated again. */
const templateTranslationMib = 1024;

function memory({ memory: file }: CommandLine): string[] {
  const room = maxMemoryMib - bootMemoryMib;
  const ram =
    file === null
      ? { 'qom-type': 'memory-backend-ram' }
      : {
          'qom-type': 'memory-backend-file',
          'mem-path': file.path,
          share: file.mode === 'write',
          ...(file.mode === 'copy' && file.readOnly ? { readonly: true, rom: 'off' } : {}),
        };
  return [
    ['-m', `${bootMemoryMib},slots=1,maxmem=${maxMemoryMib + 4096}M`],
    ['-object', JSON.stringify({ ...ram, id: 'ram', size: bootMemoryMib * mib })],
    ['-object', JSON.stringify({ 'qom-type': 'memory-backend-ram', id: 'room', size: room * mib, reserve: false })],
    ['-device', 'virtio-mem-pci,id=vmem0,memdev=room,requested-size=0,block-size=2M'],
  ].flat();
}

/** The VM's read and write rate is set afterwards, by its size (`disk-rate.ts`). */
function disk(path: string): string[] {
  const file = { driver: 'file', filename: path, discard: 'unmap' };
  const format = { driver: 'qcow2', discard: 'unmap', 'detect-zeroes': 'unmap', file };
  // A filter passes discards on only with this option.
  const filter = { driver: 'throttle', 'throttle-group': requestBound, discard: 'unmap' };
  const node = { ...filter, 'node-name': 'disk0', file: format };
  return [
    ['-object', JSON.stringify({ 'qom-type': 'throttle-group', id: requestBound })],
    ['-blockdev', JSON.stringify(node), '-device', `virtio-blk-pci,id=${diskDevice},drive=disk0`],
  ].flat();
}

function kernelParameters({ accelerator, counterKhz, credentialDigest }: CommandLine, kind: Architecture): string {
  return [
    `console=${kind.console} quiet rw ${kind.kernelParameters}memhp_default_state=online_movable`,
    // A panicked guest restarts, and its QEMU does not (`witness.ts`), so the host learns of it.
    'panic=1',
    // The kernel's tests of its own ciphers take a fifth of an emulated kernel’s start, and protect nothing here.
    'cryptomgr.notests=1',
    // Emulated processors do not speculate.
    ...(accelerator === 'tcg' ? ['mitigations=off'] : []),
    ...(counterKhz === null ? [] : [`${kind.counterParameter}=${counterKhz}`]),
    ...(credentialDigest === null ? [] : [`${credentialParameter}=${credentialDigest}`]),
  ].join(' ');
}

const mib = 1 << 20;
