import { type HostNetwork, type Namespace } from '../../packages/vm/src/qemu/network/index.ts';
import { inNamespace, ip, linkAddress, nft, sysctl } from './shell.ts';
import { StandInGuest } from './stand-in-guest.ts';
import { type World, brokerPort, udpPort } from './world.ts';

/** An agent's guest and everything that would answer in it and in its namespace. */
export interface Agent extends AsyncDisposable {
  readonly vm: Namespace;
  /** Host's end of its link. */
  readonly hostEnd: string;
  readonly guest: StandInGuest;
  /** Addresses the guest and the host's end have while `open` holds, and that the guest has from the start. */
  readonly guest6: string;
  readonly hostEnd6: string;
}

const tapOwner = 65534;
/** What guests listen on: the guest daemon and the runtime's gateway. */
export const guestPorts = [8080, 18789];
/** Ports on which a process in the VM's namespace itself listens, as none should. */
export const namespacePorts = [22, 80];

const places = (ports: readonly number[]) => ports.map((port) => ({ address: '::', port }));

export async function startAgent(world: World, network: HostNetwork, slot: number, port = brokerPort): Promise<Agent> {
  const vm = await network.createNamespace(slot, { tapOwner, brokerPort: port });
  const guest = await StandInGuest.start(vm.name, tapOwner);
  const block = `${network === world.a ? 'a' : 'b'}${slot}`;
  const [guest6, tap6, hostEnd6] = [`fd02:${block}::15`, `fd02:${block}::2`, `fd03:${block}::1`];
  await ip(
    guest.namespace,
    `address add ${guest6}/64 dev eth0 nodad`,
    // No need to ask who the router is: the guest's IPv6 goes out whether it is answered or not.
    `neigh add ${tap6} lladdr ${guest.tapMac} dev eth0`,
    `neigh add fe80::2 lladdr ${guest.tapMac} dev eth0`,
    `-6 route add default via ${tap6}`,
  );
  await world.listenIn(guest.namespace, { name: `guest of ${vm.name}`, tcp: places(guestPorts), udp: [] });
  const own = ['10.0.2.2', vm.guestAddress, '0.0.0.0'].map((address) => ({ address, port: udpPort }));
  await world.listenIn(vm.name, { name: vm.name, tcp: places(namespacePorts), udp: own });
  return {
    vm,
    hostEnd: vm.guestAddress.replace(/\d+$/, (last) => String(Number(last) - 1)),
    guest,
    guest6,
    hostEnd6,
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
    `address add ${tap6}/64 dev tap0 nodad`,
    'address add fe80::2/64 dev tap0 nodad',
    `address add ${up6}/64 dev up0 nodad`,
    `-6 route add default via ${hostEnd6}`,
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
