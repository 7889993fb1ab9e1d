/** A control plane of its own, to be killed while it makes a template: says so once the guest answers, and goes no further. */
import type { Image, Template } from '@lodge/ports';
import { driverOf } from './qemu-host.ts';
import type { QemuHostSettings } from './qemu-host.ts';

const { settings, image, variant, from } = JSON.parse(process.argv[2]!) as {
  readonly settings: QemuHostSettings;
  readonly image: Image;
  readonly variant: string;
  readonly from?: Template;
};
const driver = driverOf(settings);
await driver.start();
const prepare = async (): Promise<never> => {
  process.stdout.write('preparing\n');
  return new Promise(() => setInterval(() => undefined, 1 << 30));
};
const build = { image, variant, brokerPort: 4001, progress: () => undefined, prepare, ...(from && { from }) };
await driver.buildTemplate(build, new AbortController().signal);
