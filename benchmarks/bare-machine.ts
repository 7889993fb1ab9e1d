/** Bare clones of a service's ready template, given the time and nothing else: the floor of benchmarks. */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dialTo, guestClient, noCredential } from '@lodge/guest';
import type { AgentRuntime, Template } from '@lodge/ports';
import { createImageBuilder } from '@lodge/images';
import { bareCloner, createHostNetwork, createQemuDriver } from '@lodge/vm';
import type { BareClone } from '@lodge/vm';

/** Folder of this host's images and templates. */
export const cacheDir = process.env['LODGE_CACHE_DIR'] ?? '/var/cache/lodge';
const silent = { debug() {}, info() {}, warn() {}, error() {} };

export interface BareMachine {
  readonly template: Template;
  clone(): Promise<BareClone>;
  close(): Promise<void>;
}

/** Starts the driver; `ready` resolves when the runtime's template is in the host's cache. */
export async function bareMachine(runtime: AgentRuntime, ready: Promise<void>): Promise<BareMachine> {
  await ready;
  const dataDir = await mkdtemp(join(tmpdir(), 'lodge-floor-'));
  // VMs run as separate users, who must be able to pass the folder.
  await chmod(dataDir, 0o711);
  const instance = 'floor';
  const network = createHostNetwork({
    instance,
    range: '10.254.0.0/20',
    brokerPort: 4000,
    resolver: null,
    log: () => undefined,
  });
  const options = {
    dataDir,
    cacheDir,
    instance,
    network,
    brokerPort: 4000,
    accelerator: 'auto',
    diskFloorMib: 512,
    uidBase: 2_050_000_000,
    log: silent,
  } as const;
  const template = await currentTemplate(createQemuDriver(options), runtime);
  await network.start();
  const clone = bareCloner(options);
  return {
    template,
    async clone() {
      const made = await clone(template);
      // Its processes are frozen until it receives the time.
      await guestClient({ dial: dialTo(made.address), credential: noCredential }).awaitClock({ timeoutMs: 60_000 });
      return made;
    },
    async close() {
      await network.teardown();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function currentTemplate(
  driver: ReturnType<typeof createQemuDriver>,
  { name, templateVariant: variant }: AgentRuntime,
): Promise<Template> {
  const image = await createImageBuilder({ cacheDir, log: silent }).find(name);
  const template = image && (await driver.findTemplate({ image, variant }));
  if (!template) throw new Error('the service says its template is ready, but it is not found');
  return template;
}
