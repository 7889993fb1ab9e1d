/**
 * A separate control plane that is killed while it makes a template: it reports once the guest answers, and goes no further.
 */
import type { Image, Template } from '@lodge/ports';
import { driverOf } from './qemu-host.ts';
import type { QemuHostSettings } from './qemu-host.ts';

export type BuildMoment = 'boot' | 'preparation';

const { settings, image, variant, from, killedAt } = JSON.parse(process.argv[2]!) as {
  readonly settings: QemuHostSettings;
  readonly image: Image;
  readonly variant: string;
  readonly from?: Template;
  readonly killedAt: BuildMoment;
};
const driver = driverOf(settings);
await driver.start();
const at = (moment: BuildMoment): void => {
  if (moment === killedAt) process.stdout.write(`${moment}\n`);
};
const progress = (step: string): void => {
  if (step === 'booting the guest') at('boot');
};
const prepare = async (): Promise<never> => {
  at('preparation');
  return new Promise(() => setInterval(() => undefined, 1 << 30));
};
const build = { image, variant, brokerPort: 4001, progress, prepare, ...(from && { from }) };
await driver.buildTemplate(build, new AbortController().signal);
