import type { HostNetwork } from '../../packages/vm/src/qemu/network/index.ts';
import { type Agent, guestPorts, namespacePorts } from './agent.ts';
import { type Prober, type Target, isReached } from './prober.ts';
import * as at from './world.ts';

export const tcp = (host: string, port: number): Target => ({ protocol: 'tcp', host, port });
export const udp = (host: string, port: number): Target => ({ protocol: 'udp', host, port });
export const each = (hosts: readonly string[], ports: readonly number[], kind = tcp): Target[] =>
  hosts.flatMap((host) => ports.map((port) => kind(host, port)));
export const words = ({ protocol, host, port }: Target): string => `${protocol} ${host} ${port}`;

/** Places that no guest may reach, by what keeps it from them. `either`: the namespace and the host, each by itself. */
export interface Places {
  readonly either: readonly Target[];
  readonly hostOnly: readonly Target[];
  readonly namespaceOnly: readonly Target[];
}

export interface Others {
  readonly a: HostNetwork;
  readonly b: HostNetwork;
  /** Another agent of `a`. */
  readonly neighbour: Agent;
  /** An agent of `b`. */
  readonly foreigner: Agent;
}

/** Everything that an agent of `a` may not reach, each with a listener that would answer. */
export function forbidden(agent: Agent, { a, b, neighbour, foreigner }: Others): Places {
  const isPublic = (address: string): boolean => address.startsWith('5.9.10.');
  const host = [...at.hostAddresses, ...at.lateHostAddresses];
  const inside = host.filter((address) => !isPublic(address));
  return {
    either: [
      ...each(inside, at.hostPorts),
      ...each([a.brokerHost, b.brokerHost], at.hostPorts),
      tcp(a.brokerHost, at.otherBrokerPort),
      ...each([b.brokerHost], [at.brokerPort, at.otherBrokerPort]),
      ...each([neighbour.vm.guestAddress, foreigner.vm.guestAddress], guestPorts),
      ...each(at.privateAddresses, [80]),
      ...each(at.privateAddresses, [53, at.udpPort], udp),
      // An IPv4 address in IPv6 clothes.
      ...each(['::ffff:169.254.169.254', '::ffff:10.9.9.9', '::ffff:192.168.77.2'], [80]),
      ...each([...at.hostAddresses6, agent.hostEnd6, neighbour.hostEnd6], at.hostPorts),
      ...each(at.addresses6, [80]),
      ...each(at.addresses6, [53, at.udpPort], udp),
      ...each([neighbour.guest6], guestPorts),
    ],
    hostOnly: each(host.filter(isPublic), at.hostPorts),
    namespaceOnly: [
      ...each(['10.0.2.2', agent.vm.guestAddress, 'fe80::2%eth0'], namespacePorts),
      ...each(['10.0.2.2', agent.vm.guestAddress], [at.udpPort], udp),
      tcp(a.brokerHost, at.brokerPort),
      tcp(a.brokerHost, at.namesPort),
    ],
  };
}

export const all = ({ either, hostOnly, namespaceOnly }: Places): Target[] => [
  ...either,
  ...hostOnly,
  ...namespaceOnly,
];

export async function reached(from: Prober, targets: readonly Target[]): Promise<string[]> {
  const outcomes = await from.ask(targets);
  return targets.filter((_, i) => isReached(outcomes[i]!)).map(words);
}

export async function answers(from: Prober, ...targets: Target[]): Promise<(string | null)[]> {
  return (await from.ask(targets)).map(({ answer }) => answer);
}
