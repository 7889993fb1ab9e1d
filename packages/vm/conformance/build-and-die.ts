/** A control plane of its own, to be killed while it makes a template: says so once the guest answers, and goes no further. */
import type { Image } from '@lodge/ports';
import { driverOf } from './qemu-host.ts';
import type { QemuHostSettings } from './qemu-host.ts';

const { settings, image } = JSON.parse(process.argv[2]!) as { settings: QemuHostSettings; image: Image };
const driver = driverOf(settings);
await driver.start();
const prepare = async (): Promise<never> => {
  process.stdout.write('preparing\n');
  return new Promise(() => setInterval(() => undefined, 1 << 30));
};
const build = { image, variant: 'vm', brokerPort: 4001, progress: () => undefined, prepare };
await driver.buildTemplate(build, new AbortController().signal);
