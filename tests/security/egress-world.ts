/** The world of the tests of egress rules: names that a name server says, hosts that they lead to, and a Lodge's network. */
import type { EgressRules } from '@lodge/domain';
import type { RefusedConnection } from '@lodge/ports';
import { type HostNetwork, createHostNetwork } from '../../packages/vm/src/qemu/network/index.ts';
import { type StubAgent, startAgent } from './agent.ts';
import { serveEcho } from './conversation.ts';
import { listen } from './listeners.ts';
import { lookUp } from './look-up.ts';
import type { NameRecord, Zone } from './name-server.ts';
import { type Names, serveNames } from './names.ts';
import { ip } from './shell.ts';
import * as at from './world.ts';

export const nameServer = '9.9.9.10';
export const shop = '23.1.1.1';
export const shopMoved = '23.1.1.2';
export const wild = '23.1.1.3';
export const other = '23.1.1.4';
export const inBlock = '23.2.0.5';
const elsewhere = [shop, shopMoved, wild, other, inBlock];
export const echoPort = 7;
export const mailPorts = [25, 465, 587];
/** So that a test sees an end of them. */
const pinBounds = { leastSeconds: 2, mostSeconds: 600 };
export const range = '10.203.0.0/24';
export const options = {
  instance: 'e',
  range,
  brokerPort: at.brokerPort,
  resolver: nameServer,
  pinBounds,
  log: () => undefined,
};

export const a = (data: string, ttl = 600): NameRecord => ({ type: 'A', data, ttl });
const zone: Zone = {
  'shop.example': [a(shop)],
  'short.example': [a(shopMoved, 0)],
  'alias.example': [{ type: 'CNAME', data: 'away.elsewhere.test', ttl: 600 }],
  'away.elsewhere.test': [a(shopMoved)],
  'deep.wild.example': [a(wild)],
  'wild.example': [a(other)],
  'other.example': [a(other)],
  'rebound.example': ['10.9.9.9', '169.254.169.254', '168.63.129.16', '127.0.0.1', '5.9.10.2', '10.203.0.253'].map(
    (to) => a(to),
  ),
  'half-rebound.example': [a('169.254.169.254'), a(shop), a('168.63.129.16')],
  'six.example': [{ type: 'AAAA', data: '2606:2800:21f:cb07::1', ttl: 600 }],
};

export const list = (...allow: string[]): EgressRules => ({ mode: 'allowlist', allow });
export const none: EgressRules = { mode: 'none', allow: [] };
export const open: EgressRules = { mode: 'public', allow: [] };

export interface EgressWorld {
  readonly world: at.World;
  readonly network: HostNetwork;
  readonly names: Names;
  readonly agentWith: (slot: number, egress: EgressRules) => Promise<StubAgent>;
  /** The refused connections of a slot's guest since the last call. */
  readonly refusals: (slot: number) => Promise<string[]>;
}

export async function buildEgressWorld(): Promise<EgressWorld> {
  const world = await at.buildWorld();
  for (const address of [nameServer, ...elsewhere]) {
    await ip('internet', `address add ${address}/32 dev lo`);
  }
  await serveEcho('internet', echoPort);
  await world.listenIn('internet', {
    name: 'far',
    tcp: mailPorts.map((port) => ({ address: '::', port })),
    udp: elsewhere.map((address) => ({ address, port: at.udpPort })),
  });
  const names = await serveNames(nameServer, zone);
  const network = createHostNetwork(options);
  await network.start();
  await listen(
    { name: 'broker', tcp: [{ address: network.brokerHost, port: at.brokerPort }], udp: [] },
    () => undefined,
  );
  return {
    world,
    network,
    names,
    agentWith: (slot, egress) => startAgent(world, network, slot, { egress }),
    refusals: async (slot) => (await network.readRefused(slot)).refused.map(wordsOf).toSorted(),
  };
}

export const found = async (agent: StubAgent, ...names: string[]): Promise<(string | null)[]> => {
  const results = await lookUp(agent.guest.namespace, ...names.map((name) => ({ name })));
  return results.map((result) => result && (result.addresses.join(' ') || result.rcode));
};
export const wordsOf = ({ protocol, address, port, name }: RefusedConnection): string =>
  [protocol, address, port, name].filter((part) => part !== null).join(' ');
