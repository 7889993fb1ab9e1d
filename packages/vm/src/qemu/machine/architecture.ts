/**
 * What differs between the processors that hosts have, whose guests have the same. The guests of ARM were run under
 * emulation only (docs/adr/0048-arm64.md).
 */
import { guestProcessor } from '@lodge/ports';

export type Accelerator = 'kvm' | 'tcg';

export interface Architecture {
  readonly emulator: string;
  /** QEMU's machine, with what its kind needs turned off. */
  readonly machine: string;
  /**
   * Model of the first vCPU. Under KVM it has no nested virtualisation: a hostile guest does not reach what most escapes from
   * KVM used. QEMU takes `name=off` for every vCPU of the model, so it holds for those that are plugged in as well. An emulated
   * processor keeps its own SVM: nothing of KVM is behind it, and without it (QEMU 7.2) static programs abort in the guest.
   */
  readonly processor: (accelerator: Accelerator) => string;
  /** Driver of a vCPU that is plugged in. Null: the machine has all of them from the start, and its guest turns off what it shall not have. */
  readonly pluggedProcessor: ((accelerator: Accelerator) => string) | null;
  /** The serial port's name in the guest. */
  readonly console: string;
  /** Each with a space after it. */
  readonly kernelParameters: string;
  /** Where the memory that a guest boots with begins, as the guest counts. */
  readonly memoryAddress: number;
}

const x64: Architecture = {
  emulator: 'qemu-system-x86_64',
  // Pages of one guest are never merged with another's: how long a write takes would tell what the other holds.
  machine: 'q35,memory-backend=ram,mem-merge=off,vmport=off,smbus=off,sata=off,hpet=off',
  processor: (accelerator) => (accelerator === 'kvm' ? 'host,vmx=off,svm=off' : 'max'),
  pluggedProcessor: (accelerator) => (accelerator === 'kvm' ? 'host-x86_64-cpu' : 'max-x86_64-cpu'),
  console: 'ttyS0',
  kernelParameters: 'no_timer_check tsc=reliable ',
  memoryAddress: 0,
};

const arm64: Architecture = {
  emulator: 'qemu-system-aarch64',
  // `virt` gives its guests no virtualisation of their own unless it is told to.
  machine: 'virt,gic-version=3,memory-backend=ram,mem-merge=off',
  processor: (accelerator) => (accelerator === 'kvm' ? 'host' : 'max,pauth-impdef=on'),
  pluggedProcessor: null,
  console: 'ttyAMA0',
  kernelParameters: '',
  memoryAddress: 2 ** 30,
};

export const architectures = { x64, arm64 };

export const architecture: Architecture = architectures[guestProcessor];
