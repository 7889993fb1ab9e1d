export * from './qemu/driver.ts';
export * from './qemu/network/index.ts';
