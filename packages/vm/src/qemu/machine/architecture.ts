/**
 * The differences between the processors of hosts; guests have the same processor. The guests of ARM were run under
 * emulation only (docs/adr/0048-arm64.md).
 */
import { guestProcessor } from '@lodge/ports';

export type Accelerator = 'kvm' | 'tcg';

export interface Architecture {
  readonly emulator: string;
  /** QEMU's machine, with the unneeded devices of its kind turned off. */
  readonly machine: string;
  /**
   * Model of the first vCPU. Under KVM it has no nested virtualisation: most escapes from KVM used it, and a hostile guest
   * does not reach it. QEMU applies `name=off` to every vCPU of the model, so it holds for plugged ones as well. An emulated
   * processor keeps its own SVM: it does not lead to KVM, and without it (QEMU 7.2) static programs abort in the guest.
   */
  readonly processor: (accelerator: Accelerator) => string;
  /**
   * Driver of a vCPU that is plugged in. Null: the machine has all of them from the start, and its guest turns off the
   * surplus ones.
   */
  readonly pluggedProcessor: ((accelerator: Accelerator) => string) | null;
  /** The serial port's name in the guest. */
  readonly console: string;
  /** Parameters, each with a space after it. */
  readonly kernelParameters: string;
  /** The parameter that tells an emulated kernel the rate of its counter. Null: the processor tells it. */
  readonly counterParameter: string | null;
  /** Guest-physical address of the memory that a guest boots with. */
  readonly memoryAddress: number;
}

const x64: Architecture = {
  emulator: 'qemu-system-x86_64',
  // Pages of one guest are never merged with another's: the time of a write would reveal the other's contents.
  machine: 'q35,memory-backend=ram,mem-merge=off,vmport=off,smbus=off,sata=off,hpet=off',
  // A kernel that is offered fast string instructions clears and copies its pages by them, and QEMU emulates those byte by
  // byte: without them an emulated guest boots with three quarters of the processor time.
  processor: (accelerator) => (accelerator === 'kvm' ? 'host,vmx=off,svm=off' : 'max,erms=off,fsrm=off'),
  pluggedProcessor: (accelerator) => (accelerator === 'kvm' ? 'host-x86_64-cpu' : 'max-x86_64-cpu'),
  console: 'ttyS0',
  kernelParameters: 'no_timer_check tsc=reliable ',
  counterParameter: 'tsc_early_khz',
  memoryAddress: 0,
};

const arm64: Architecture = {
  emulator: 'qemu-system-aarch64',
  // `virt` gives its guests no virtualisation unless an option says so.
  machine: 'virt,gic-version=3,memory-backend=ram,mem-merge=off',
  processor: (accelerator) => (accelerator === 'kvm' ? 'host' : 'max,pauth-impdef=on'),
  pluggedProcessor: null,
  console: 'ttyAMA0',
  kernelParameters: '',
  counterParameter: null,
  memoryAddress: 2 ** 30,
};

export const architectures = { x64, arm64 };

export const architecture: Architecture = architectures[guestProcessor];
