export { createQemuDriver } from './qemu/driver.ts';
export type { QemuDriverOptions } from './qemu/driver.ts';
export { bareCloner } from './qemu/floor.ts';
export type { BareClone } from './qemu/floor.ts';
export { chooseAccelerator } from './qemu/accelerator.ts';
export type { AcceleratorAnswer } from './qemu/accelerator.ts';
export { inspectEmulator } from './qemu/emulator.ts';
export { openCgroups } from './qemu/cgroup.ts';
export * from './qemu/network/index.ts';
