export { createQemuDriver } from './qemu/driver.ts';
export type { QemuDriverOptions } from './qemu/options.ts';
export { bareCloner } from './qemu/bare-clone.ts';
export type { BareClone } from './qemu/bare-clone.ts';
export { chooseAccelerator } from './qemu/machine/accelerator.ts';
export type { AcceleratorAnswer } from './qemu/machine/accelerator.ts';
export { inspectEmulator } from './qemu/machine/emulator.ts';
export { openCgroups } from './qemu/host/cgroup.ts';
export * from './qemu/network/index.ts';
