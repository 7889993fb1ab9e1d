/** A driver behind the machine host's protocol: a control plane without privileges has it instead of its own. */
import { duplexPair } from 'node:stream';
import type { ImageBuilder, VmDriver } from '@lodge/ports';
import { Channel, createRemoteMachines, KnownImages, serveMachines } from '../src/remote/index.ts';
import type { DriverHarness } from './harness.ts';

const log = { debug() {}, info() {}, warn() {}, error() {} };
/** The suite's agents have names that say their purpose. */
const agentIds = /^[a-z][A-Za-z0-9-]{0,31}$/;

export function overChannel(driver: VmDriver, images: KnownImages): VmDriver {
  const [there, here] = duplexPair();
  const server = new Channel(there, { peer: 'controlPlane' });
  const client = new Channel(here, { peer: 'machineHost' });
  serveMachines(server, { driver, images, log, agentIds });
  const { driver: remote } = createRemoteMachines(client, driver);
  server.open();
  client.open();
  return remote;
}

/** The same host, whose drivers are called over a channel each. */
export async function remoteHarness(harness: DriverHarness): Promise<DriverHarness> {
  const { image } = harness.template;
  const builder: ImageBuilder = {
    idOf: async () => image.id,
    find: async () => image,
    ensure: async () => image,
  };
  const images = new KnownImages(builder);
  await images.find('suite');
  return { ...harness, driver: () => overChannel(harness.driver(), images) };
}
