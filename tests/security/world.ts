import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type HostNetwork, createHostNetwork } from '../../packages/vm/src/qemu/network/index.ts';
import { type Listening, listen } from './listeners.ts';
import { ip, letGo, sysctl } from './shell.ts';

/**
 * The world around the VMs, all of it in namespaces of the test's own: a host that runs two Lodges (`a`, `b`) and listens on all its addresses, and behind its
 * uplink an `internet` that has every address a guest must not reach, and some it may, each with a listener that answers. A leak is thus an answer.
 */
export const publicAddress = '93.184.215.14';
export const resolver = '9.9.9.9';
/** The name server of the other Lodge: the network's router, as in most small networks. */
export const privateResolver = '192.168.77.1';
const router = '5.9.10.1';

/** One address at least of every block that is not public, and the ones that clouds use for their metadata. */
export const privateAddresses = [
  '169.254.169.254',
  '168.63.129.16',
  '169.254.170.2',
  '10.9.9.9',
  '172.16.9.9',
  '172.31.255.1',
  '192.168.9.9',
  '192.168.77.1',
  '100.64.9.9',
  '100.100.100.200',
  '198.18.0.9',
  '198.19.255.9',
  '192.0.0.192',
  '192.0.2.9',
  '192.88.99.1',
  '198.51.100.9',
  '203.0.113.9',
  '240.0.0.9',
];
export const addresses6 = ['fd00:ec2::254', 'fd00:9::9', '2001:db8:9::9', '2606:2800:21f:cb07::1'];

/** The host's addresses before the network starts, and those that it gets only after a guest runs. */
export const hostAddresses = ['5.9.10.2', '192.168.77.2', '172.17.0.1'];
export const lateHostAddresses = ['5.9.10.99', '10.50.0.1'];
export const hostAddresses6 = ['2001:db8:77::2', 'fd00:77::2'];
export const hostPorts = [22, 80, 8080];
export const brokerPort = 4000;
/** A second port at the broker's address, as a template's stub has it. */
export const otherBrokerPort = 4001;
export const udpPort = 7000;
/** Where names of allow lists are looked up, at the broker's address. */
export const namesPort = 4053;

export interface World {
  readonly a: HostNetwork;
  readonly b: HostNetwork;
  /** Datagrams that reached anyone, as `<who>: <text>`. */
  readonly heard: string[];
  /** Starts a process that listens in a namespace. */
  listenIn(namespace: string, listening: Listening): Promise<void>;
  addLateAddresses(): Promise<void>;
}

const everywhere = (ports: readonly number[]) => ports.map((port) => ({ address: '::', port }));

export async function buildInternet(): Promise<void> {
  await ip(
    null,
    'netns add internet',
    'link add wan type veth peer name host netns internet',
    'link set wan addrgenmode none',
    'address add fe80::a/64 dev wan nodad',
    'address add 5.9.10.2/24 dev wan',
    'address add 192.168.77.2/24 dev wan',
    'address add 2001:db8:77::2/64 dev wan nodad',
    'address add fd00:77::2/64 dev wan nodad',
    'link set wan up',
    'link add docker0 type bridge',
    'address add 172.17.0.1/16 dev docker0',
    'link set docker0 up',
  );
  await ip(
    'internet',
    'link set lo up',
    'link set host addrgenmode none',
    'address add fe80::b/64 dev host nodad',
    `address add ${router}/24 dev host`,
    'address add 192.168.77.1/24 dev host',
    'address add 2001:db8:77::1/64 dev host nodad',
    ...[publicAddress, resolver, ...privateAddresses.filter((address) => !address.startsWith('192.168.77.'))].map(
      (address) => `address add ${address}/32 dev lo`,
    ),
    ...addresses6.map((address) => `address add ${address}/128 dev lo`),
    'link set host up',
    // Whatever source address gets out, an answer finds its way back.
    'route add default via 5.9.10.2',
    '-6 route add default via 2001:db8:77::2',
  );
  await ip(null, `route add default via ${router}`, '-6 route add default via 2001:db8:77::1');
  await sysctl(null, { 'ipv6/conf/all/forwarding': 1 });
}

/** Starts a process that listens in a namespace; `hear` gets each datagram's text. */
export async function listenApart(
  namespace: string,
  listening: Listening,
  hear: (text: string) => void,
): Promise<void> {
  const argv = [process.execPath, join(import.meta.dirname, 'listeners.ts'), JSON.stringify(listening)];
  const child = spawn('nsenter', [`--net=/run/netns/${namespace}`, ...argv], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface(child.stdout);
  const ready = new Promise<void>((resolve, reject) => {
    lines.on('line', (line) => {
      if (line === 'ready') resolve();
      else hear((JSON.parse(line) as { heard: string }).heard);
    });
    child.on('exit', () => reject(new Error(`the listener ${listening.name} ended`)));
  });
  await ready;
  letGo(child);
}

export async function buildWorld(log: (message: string) => void = () => {}): Promise<World> {
  const heard: string[] = [];
  const listenIn = (namespace: string, listening: Listening): Promise<void> =>
    listenApart(namespace, listening, (text) => heard.push(`${listening.name}: ${text}`));
  await buildInternet();
  const usual = { brokerPort, log };
  const a = createHostNetwork({ ...usual, instance: 'a', range: '10.201.0.0/16', resolver });
  const b = createHostNetwork({ ...usual, instance: 'b', range: '10.202.0.0/24', resolver: privateResolver });
  await a.start();
  await b.start();
  await listenIn('internet', {
    name: 'internet',
    tcp: everywhere([53, 80, brokerPort]),
    udp: [publicAddress, resolver, ...privateAddresses, ...addresses6].flatMap((address) =>
      [53, udpPort].map((port) => ({ address, port })),
    ),
  });
  const brokers = [a, b].flatMap(({ brokerHost }) =>
    [brokerPort, otherBrokerPort].map((port) => ({ address: brokerHost, port })),
  );
  const onHost = { name: 'host', tcp: everywhere(hostPorts), udp: [{ address: '::', port: udpPort }] };
  await listen(onHost, (text) => heard.push(`host: ${text}`));
  await listen({ name: 'broker', tcp: brokers, udp: [] }, () => {});
  return {
    a,
    b,
    heard,
    listenIn,
    addLateAddresses: () => ip(null, ...lateHostAddresses.map((address) => `address add ${address}/32 dev wan`)),
  };
}
