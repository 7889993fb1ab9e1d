import { type HostNetwork, type Namespace, type NamespaceOptions } from '../../packages/vm/src/qemu/network/index.ts';
import { inNamespace, ip, linkAddress, nft, sysctl } from './shell.ts';
import type { Prober } from './prober.ts';
import { StubGuest } from './stub-guest.ts';
import { type World, brokerPort, udpPort } from './world.ts';

/** An agent's guest, its namespace, and what answers there. */
export interface Agent {
  readonly vm: Pick<Namespace, 'name' | 'guestAddress'>;
  /** An address the guest has from the start, and one that the host's end gets from `openNamespace`. */
  readonly guest6: string;
  readonly hostEnd6: string;
  readonly guest: Prober & { readonly mac: string };
}

export interface StubAgent extends Agent, AsyncDisposable {
  readonly guest: StubGuest;
}

/** Nobody: the emulator's user. */
export const tapOwner = 65534;
/** The ports that guests listen on: the guest daemon and the runtime's gateway. */
export const guestPorts = [8080, 18789];
/** Ports on which a process in the VM's namespace itself listens, as none should. */
export const namespacePorts = [22, 80];

const places = (ports: readonly number[]) => ports.map((port) => ({ address: '::', port }));

/** Addresses that follow from an agent's own and its instance. */
export function addressesOf(
  instance: 'a' | 'b',
  guestAddress: string,
): { readonly guest6: string; readonly tap6: string; readonly hostEnd6: string } {
  const [low = 0, high = 0] = guestAddress.split('.').map(Number).toReversed();
  const block = `${instance}:${high}:${low}`;
  return {
    guest6: `fd02:${block}::15`,
    tap6: `fd02:${block}::2`,
    hostEnd6: `fd03:${block}::1`,
  };
}

/**
 * Lines for `ip` in a guest, run by its root: IPv6 as far as a guest can have it by itself, and the way out known, so that
 * packets leave whether or not anybody answers.
 */
export const guestLines = (guest6: string, tap6: string, tapMac: string): string[] => [
  `neigh replace 10.0.2.2 lladdr ${tapMac} dev eth0`,
  `address add ${guest6}/64 dev eth0 nodad`,
  `neigh replace ${tap6} lladdr ${tapMac} dev eth0`,
  `neigh replace fe80::2 lladdr ${tapMac} dev eth0`,
  `-6 route add default via ${tap6}`,
];

/** Has the namespace of a VM itself listen, as nothing in it should. */
export async function listenInNamespace(world: World, { name, guestAddress }: Agent['vm']): Promise<void> {
  const own = ['10.0.2.2', guestAddress, '0.0.0.0'].map((address) => ({ address, port: udpPort }));
  await world.listenIn(name, { name, tcp: places(namespacePorts), udp: own });
}

export async function startAgent(
  world: World,
  network: HostNetwork,
  slot: number,
  options: Partial<NamespaceOptions> = {},
): Promise<StubAgent> {
  const vm = await network.createNamespace(slot, { tapOwner, brokerPort, ...options });
  const guest = await StubGuest.start(vm.name, tapOwner);
  const { tap6, ...addresses } = addressesOf(network === world.a ? 'a' : 'b', vm.guestAddress);
  await ip(guest.namespace, ...guestLines(addresses.guest6, tap6, guest.tapMac));
  await world.listenIn(guest.namespace, { name: `guest of ${vm.name}`, tcp: places(guestPorts), udp: [] });
  await listenInNamespace(world, vm);
  return {
    vm,
    guest,
    ...addresses,
    [Symbol.asyncDispose]: async () => {
      await guest.stop();
      await network.removeNamespace(slot);
    },
  };
}

/** Takes every protection from a namespace, and gives it what an attacker would wish for: IPv6, routing of loopback addresses, trust in what the guest says. */
export async function openNamespace(network: HostNetwork, agent: Agent): Promise<void> {
  const { vm, guest, guest6, hostEnd6 } = agent;
  await nft(
    vm.name,
    `flush ruleset
table inet open {
  chain translate_destination {
    type nat hook prerouting priority dstnat; policy accept;
    iifname "up0" ip daddr ${vm.guestAddress} tcp dport { ${guestPorts.join(', ')} } dnat ip to 10.0.2.15
    iifname "tap0" ip daddr 10.0.2.2 tcp dport ${brokerPort} dnat ip to ${network.brokerHost}
  }
  chain translate_source {
    type nat hook postrouting priority srcnat; policy accept;
    oifname "up0" snat ip to ${vm.guestAddress}
    oifname "tap0" snat ip to 10.0.2.2
  }
}`,
  );
  const [tap6, up6] = [guest6.replace(/15$/, '2'), hostEnd6.replace(/1$/, '2')];
  await sysctl(vm.name, {
    'ipv4/conf/all/route_localnet': 1,
    'ipv6/conf/all/disable_ipv6': 0,
    'ipv6/conf/all/forwarding': 1,
    'ipv6/conf/tap0/accept_ra': 2,
  });
  await ip(
    vm.name,
    'link set lo up',
    `address replace ${tap6}/64 dev tap0 nodad`,
    'address replace fe80::2/64 dev tap0 nodad',
    `address replace ${up6}/64 dev up0 nodad`,
    `-6 route replace default via ${hostEnd6}`,
    `neigh replace ${guest6} lladdr ${guest.mac} dev tap0`,
    `neigh replace ${hostEnd6} lladdr ${await linkAddress(null, vm.name)} dev up0`,
  );
  await ip(
    null,
    `address replace ${hostEnd6}/64 dev ${vm.name} nodad`,
    `-6 route replace ${guest6}/128 via ${up6}`,
    `neigh replace ${up6} lladdr ${await linkAddress(vm.name, 'up0')} dev ${vm.name}`,
  );
}

/** Takes the host's protections away until disposed; `start` brings them back. */
export async function openHost(world: World): Promise<AsyncDisposable> {
  await nft(null, 'delete table inet lodge_a\ndelete table inet lodge_b\n');
  return {
    [Symbol.asyncDispose]: async () => {
      await world.a.start();
      await world.b.start();
    },
  };
}

export async function neighbours(namespace: string, link: string): Promise<string[]> {
  const answer = await inNamespace(namespace, ['ip', '-json', '-4', 'neigh', 'show', 'dev', link]);
  return (JSON.parse(answer) as { dst: string }[]).map(({ dst }) => dst);
}
