import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import type { EgressRules } from '@lodge/domain';
import { hostAddress } from '@lodge/guest';
import { VmError } from '@lodge/ports';
import { entries } from '../host/files.ts';
import { bandwidthRules } from './bandwidth.ts';
import { Egress } from './egress.ts';
import { NftCrashError, ipBatch, nft, run } from './commands.ts';
import { connectionShare, fitConnectionTable } from './connection-share.ts';
import { othersForward } from './foreign-firewall.ts';
import { allowBrokerPort, forgetBrokerPort, hostRules } from './host-rules.ts';
import { namespaceRules, renewedRules } from './namespace-rules.ts';
import { OtherFirewalls } from './other-firewalls.ts';
import { type NetworkOptions, type NetworkPlan, checkPort, planNetwork } from './plan.ts';
import type { PinBounds } from './resolver/lookups.ts';
import type { Unprivileged } from './resolver/names-process.ts';
import { rangeUse } from './routes.ts';
import type { Refused } from './slot-egress.ts';
import { SlotFirewall } from './slot-firewall.ts';

/**
 * Network of the VMs of one instance on this host (needs root).
 *
 *   guest 10.0.2.15 ── tap0 10.0.2.2 [ namespace <instance>-<slot> ] up0 ── veth <instance>-<slot> ── host ── internet
 *                                                                                                       └── <instance>-broker
 *
 * Every guest has the same addresses; a slot's /30 of the range tells them apart. Two firewalls stand one behind the other, each sufficient for what it can know:
 * the namespace's (namespace-rules.ts) and the host's (host-rules.ts). All state is in the kernel, and everything's name begins with the instance's:
 * a slot is its namespace, its link, or both, so what a killed process left half made is found, and `createNamespace` begins by removing it.
 */
export interface HostNetwork {
  /** Address on the host where the broker listens; every guest's fixed broker address is translated to it. */
  readonly brokerHost: string;
  readonly maxSlots: number;
  /**
   * Makes the broker's link, the host's firewall, forwarding and the resolver of allow lists. Existing namespaces are left
   * as they are. It may be repeated at any time, to restore parts that another program flushed. Rejects when somebody else
   * on this host uses the range.
   */
  start(): Promise<void>;
  /**
   * Checks that everything is as `start` made it, and makes it again if another program changed it. Returns whether there
   * was something to do. Cheap otherwise: two listings by `nft`.
   */
  heal(): Promise<boolean>;
  /** Makes a namespace, in place of an existing one. After a rejection, or a kill, `slots` still lists the parts. */
  createNamespace(slot: number, options: NamespaceOptions): Promise<Namespace>;
  /** Removes a namespace. Its emulator should have ended: its tap then reaches nothing. Succeeds if it is absent. */
  removeNamespace(slot: number): Promise<void>;
  /** Slots that have a namespace, a link or both now, in order. */
  slots(): Promise<number[]>;
  /** Bytes (IP packets) the slot's guest has sent to public addresses and the resolver since its namespace was made. */
  egressBytes(slot: number): Promise<number>;
  /** Applies rules to the slot's guest at once, and to its open connections. Repeating the same rules succeeds. */
  setEgress(slot: number, rules: EgressRules): Promise<void>;
  /** Bounds the traffic of the slot's guest beyond the host, Mbit/s each way; null: no bound. */
  setBandwidth(slot: number, mbit: number | null): Promise<void>;
  /**
   * The refused connections of the slot's guest since the last call, oldest first; at most 100. With a process that runs in
   * the namespace, few processes are started, whatever the number of slots and calls: none while nothing was refused, and
   * refusals come a little later if many slots have some.
   */
  readRefused(slot: number, emulator?: number): Promise<Refused>;
  /** Stops serving names. Everything else belongs to the kernel and stays. */
  stop(): void;
  /** Removes everything of this instance. Switches forwarding off if `start` switched it on and nobody else forwards. */
  teardown(): Promise<void>;
}

export interface NamespaceOptions {
  /** uid of the unprivileged emulator that opens the tap. */
  readonly tapOwner: number;
  /** Port at the broker's address that this guest's broker port is translated to. */
  readonly brokerPort: number;
  /** The rules before anything can be sent. Default: every public address. */
  readonly egress?: EgressRules;
  /** Mbit/s each way beyond the host; null, the default: no bound. */
  readonly mbit?: number | null;
}

export interface Namespace {
  readonly slot: number;
  readonly name: string;
  readonly path: string;
  readonly tap: string;
  /** The address that the host connects to, and the source address of everything that the guest sends. */
  readonly guestAddress: string;
}

const namespaces = '/run/netns';
const tap = 'tap0';
/** The two ends of a slot's link know each other from the start: no ARP asks for an address that no link has. */
const hostHardware = '02:00:0a:c9:00:01';
const guestHardware = '02:00:0a:c9:00:02';
const forwarding = '/proc/sys/net/ipv4/ip_forward';
/** One folder per link in the caller's network namespace; sysfs would show those of the namespace it was mounted in. */
const links = '/proc/sys/net/ipv4/conf';

/**
 * Makes a namespace from its arguments in one process after another, without returning to the caller in between: lines for
 * `ip` outside, the namespace's path, lines for `ip` inside; the firewall comes on standard input. IPv6 goes off before
 * anything is up, and forwarding goes on last.
 */
const makeNamespace = `
ip -batch - <<END
$1
END
exec nsenter --net="$2" sh -euc '
for key in all default; do
  [ ! -e /proc/sys/net/ipv6/conf/$key ] || echo 1 > /proc/sys/net/ipv6/conf/$key/disable_ipv6
done
ip -batch - <<END
$1
END
nft -f -
echo 1 > /proc/sys/net/ipv4/ip_forward
' sh "$3"
`;

/** The line for `ip` that keeps a link from having its own IPv6 address, if this kernel has IPv6. */
const withoutIpv6Address = (link: string): string[] =>
  existsSync('/proc/sys/net/ipv6/conf') ? [`link set ${link} addrgenmode none`] : [];

/** The existing parts of one name. */
async function presence(name: string): Promise<{ readonly link: boolean; readonly namespace: boolean }> {
  const [devices, names] = await Promise.all([entries(links), entries(namespaces)]);
  return { link: devices.includes(name), namespace: names.includes(name) };
}

/** Runs `lines(presence of name)`, and once more if it fails while another process changes the presence. */
async function settle(name: string, lines: (now: Awaited<ReturnType<typeof presence>>) => string[]): Promise<void> {
  const before = await presence(name);
  try {
    await ipBatch(lines(before));
  } catch (error) {
    const now = await presence(name);
    if (now.link === before.link && now.namespace === before.namespace) throw error;
    await ipBatch(lines(now));
  }
}

async function ensureBrokerLink(plan: NetworkPlan): Promise<void> {
  const link = plan.brokerLink;
  await settle(link, (now) => [
    ...(now.link ? [] : [`tuntap add dev ${link} mode tun`, ...withoutIpv6Address(link)]),
    `address replace ${plan.brokerHost}/32 dev ${link}`,
    `link set ${link} up`,
    `route replace ${plan.range} dev ${link}`,
  ]);
}

const removeLink = (link: string): Promise<void> => settle(link, (now) => (now.link ? [`link del ${link}`] : []));

async function removeSlot(plan: NetworkPlan, slot: number): Promise<void> {
  const name = plan.slotName(slot);
  await nft(forgetBrokerPort(plan, slot));
  await settle(name, (now) => [
    ...(now.link ? [`link del ${name}`] : []),
    ...(now.namespace ? [`netns del ${name}`] : []),
  ]);
}

async function createSlot(plan: NetworkPlan, slot: number, options: NamespaceOptions): Promise<Namespace> {
  const { tapOwner } = options;
  const brokerPort = checkPort(options.brokerPort);
  if (!Number.isInteger(tapOwner) || tapOwner < 0) throw new Error(`Not a user id: ${tapOwner}`);
  const name = plan.slotName(slot);
  const path = `${namespaces}/${name}`;
  const addresses = plan.slotAddresses(slot);
  const { guestSide } = addresses;
  const there = await presence(name);
  if (there.link || there.namespace) await removeSlot(plan, slot);
  const share = await connectionShare(plan.guests);
  const outside = [
    `netns add ${name}`,
    `link add name ${name} address ${hostHardware} type veth peer name up0 address ${guestHardware} netns ${name}`,
    ...withoutIpv6Address(name),
    `link set ${name} up`,
    `neigh add ${guestSide} lladdr ${guestHardware} dev ${name} nud permanent`,
    slotRoute(plan, slot),
  ];
  const inside = [
    `address add ${guestSide}/32 dev up0`,
    'link set up0 up',
    `neigh add ${plan.brokerHost} lladdr ${hostHardware} dev up0 nud permanent`,
    `route add ${plan.brokerHost} dev up0`,
    `tuntap add dev ${tap} mode tap user ${tapOwner}`,
    `address add ${hostAddress}/24 dev ${tap}`,
    `link set ${tap} up`,
    `route add default via ${plan.brokerHost}`,
  ];
  await run(
    'sh',
    ['-euc', makeNamespace, 'sh', outside.join('\n'), path, inside.join('\n')],
    namespaceRules({ ...options, plan, addresses, share }),
  );
  if (brokerPort !== plan.brokerPort) await nft(allowBrokerPort(plan, slot, brokerPort));
  return { slot, name, path, tap, guestAddress: guestSide };
}

async function listSlots(plan: NetworkPlan): Promise<number[]> {
  const names = new Set([...(await entries(links)), ...(await entries(namespaces))]);
  return [...names].flatMap((name) => plan.slotOf(name) ?? []).sort((a, b) => a - b);
}

async function egressBytes(plan: NetworkPlan, slot: number): Promise<number> {
  const counter = ['nft', '-j', 'list', 'counter', 'inet', 'lodge', 'egress'];
  const answer = await run('nsenter', [`--net=${namespaces}/${plan.slotName(slot)}`, ...counter]);
  const { nftables } = JSON.parse(answer) as { nftables: { counter?: { bytes: number } }[] };
  return nftables.find(({ counter }) => counter !== undefined)!.counter!.bytes;
}

/** An empty table of this name says that this instance switched forwarding on. It lasts as long as the switch itself. */
const forwardingMark = (plan: NetworkPlan): string => `inet ${plan.table}_switched_forwarding_on`;

async function ensureForwarding(plan: NetworkPlan, log: (message: string) => void): Promise<void> {
  if ((await readFile(forwarding, 'utf8')).trim() === '1') return;
  await nft(`add table ${forwardingMark(plan)}`);
  await writeFile(forwarding, '1');
  log('network: switched IPv4 forwarding on, it was off on this host');
}

/** One table as nft prints it; null if there is none. nft may be unable to list all tables. */
async function tableText(table: string): Promise<string | null> {
  return run('nft', ['--stateless', 'list', 'table', ...table.split(' ')]).catch((error: unknown) => {
    if (error instanceof NftCrashError) throw error;
    return null;
  });
}

async function isForwardingMarked(plan: NetworkPlan): Promise<boolean> {
  return (await tableText(forwardingMark(plan))) !== null;
}

async function restoreForwarding(plan: NetworkPlan): Promise<void> {
  if (!(await isForwardingMarked(plan))) return;
  // If the others cannot be listed, they may rely on forwarding.
  if (!(await othersForward(plan).catch(() => true))) await writeFile(forwarding, '0');
  await nft(`delete table ${forwardingMark(plan)}`);
}

/** The host talks to guests from the broker's address. */
const slotRoute = (plan: NetworkPlan, slot: number): string =>
  `route replace ${plan.slotAddresses(slot).guestSide} dev ${plan.slotName(slot)} src ${plan.brokerHost}`;

/**
 * Restores the slots' routes, which the kernel drops with the broker's address. A link with an address of its own comes from
 * an earlier release, and has its own route.
 */
async function restoreSlotRoutes(plan: NetworkPlan): Promise<void> {
  const slots = await listSlots(plan);
  if (slots.length === 0) return;
  const addresses = JSON.parse(await run('ip', ['-json', '-4', 'address', 'show'])) as { ifname?: string }[];
  const addressed = new Set(addresses.map(({ ifname }) => ifname));
  const lines = slots.filter((slot) => !addressed.has(plan.slotName(slot))).map((slot) => slotRoute(plan, slot));
  // A slot may go meanwhile, or be half made: making it adds this line too.
  await run('ip', ['-force', '-batch', '-'], lines.join('\n')).catch(() => undefined);
}

async function startNetwork(plan: NetworkPlan, others: OtherFirewalls, log: (message: string) => void): Promise<void> {
  const { conflict, moved } = await rangeUse(plan);
  if (conflict !== null) {
    throw new VmError(
      'failed',
      `The range ${plan.range} of the VMs' network is used on this host already (route ${conflict}): set LODGE_NETWORK_RANGE to another`,
    );
  }
  if (moved) {
    if ((await listSlots(plan)).length > 0) {
      throw new VmError(
        'failed',
        `VMs of this instance still use another range than ${plan.range}: stop them all before changing it`,
      );
    }
    await removeLink(plan.brokerLink);
  }
  await nft(hostRules(plan));
  await ensureBrokerLink(plan);
  await restoreSlotRoutes(plan);
  await others.open();
  await ensureForwarding(plan, log);
  await fitConnectionTable(plan.guests, log);
}

/** The instance's own table as it is now, without the slots' entries; null when it is gone. */
async function ownRules(plan: NetworkPlan): Promise<string | null> {
  const text = await tableText(`inet ${plan.table}`);
  return (
    text && text.replaceAll(/\t(map slots|chain slot_\d+) \{\n(?:\t\t.*\n)*\t\}\n\n?/g, '').replaceAll(/\n+/g, '\n')
  );
}

async function isWhole(plan: NetworkPlan, rules: string | null): Promise<boolean> {
  const [found, { link }, forwards] = await Promise.all([
    ownRules(plan),
    presence(plan.brokerLink),
    readFile(forwarding, 'utf8'),
  ]);
  return found !== null && found === rules && link && forwards.trim() === '1';
}

async function teardownNetwork(plan: NetworkPlan, others: OtherFirewalls): Promise<void> {
  for (const slot of await listSlots(plan)) await removeSlot(plan, slot);
  await others.close();
  await restoreForwarding(plan);
  await removeLink(plan.brokerLink);
  await nft(`add table inet ${plan.table}\ndelete table inet ${plan.table}\n`);
}

export interface HostNetworkOptions extends NetworkOptions {
  readonly log: (message: string) => void;
  readonly pinBounds?: PinBounds;
  /** How the process that looks names up is started without privileges; by default as a separate user, with this Node. */
  readonly unprivileged?: Unprivileged;
}

export function createHostNetwork(options: HostNetworkOptions): HostNetwork {
  const plan = planNetwork(options);
  const others = new OtherFirewalls(plan, options.log);
  /** The table as the last start left it. */
  let rules: string | null = null;
  /** Broker ports of slots that this process made, if they are not the usual one. */
  const brokerPorts = new Map<number, number>();
  const firewallOf = (slot: number): SlotFirewall =>
    new SlotFirewall(`${namespaces}/${plan.slotName(slot)}`, async () => {
      const brokerPort = brokerPorts.get(slot) ?? plan.brokerPort;
      const share = await connectionShare(plan.guests);
      return renewedRules({ plan, addresses: plan.slotAddresses(slot), brokerPort, share });
    });
  const { pinBounds, unprivileged, log } = options;
  const egress = new Egress(plan, { firewallOf, pinBounds, unprivileged, log });
  /** Whether forwarding must be switched off in the end: a mark in the kernel says so, and a flush removes it. */
  let marked = false;
  const start = async (): Promise<void> => {
    await startNetwork(plan, others, options.log);
    if (marked) await nft(`add table ${forwardingMark(plan)}`);
    marked = await isForwardingMarked(plan);
    for (const [slot, port] of brokerPorts) await nft(allowBrokerPort(plan, slot, port));
    rules = await ownRules(plan);
    await egress.start();
  };
  const heal = async (): Promise<boolean> => {
    if (await isWhole(plan, rules)) return others.open();
    await start();
    return true;
  };
  return {
    brokerHost: plan.brokerHost,
    maxSlots: plan.maxSlots,
    start,
    heal,
    createNamespace: async (slot, namespace) => {
      await egress.end(slot);
      const made = await createSlot(plan, slot, namespace);
      egress.begin(slot, namespace.egress);
      if (namespace.brokerPort !== plan.brokerPort) brokerPorts.set(slot, namespace.brokerPort);
      return made;
    },
    removeNamespace: async (slot) => {
      brokerPorts.delete(slot);
      await egress.end(slot);
      const there = await presence(plan.slotName(slot));
      if (there.link || there.namespace) await removeSlot(plan, slot);
    },
    slots: () => listSlots(plan),
    egressBytes: (slot) => egressBytes(plan, slot),
    setBandwidth: (slot, mbit) => firewallOf(slot).apply(bandwidthRules(mbit)),
    setEgress: (slot, rules) => egress.set(slot, rules),
    readRefused: (slot, emulator) => egress.readRefused(slot, emulator),
    stop: () => egress.stop(),
    teardown: async () => {
      egress.stop();
      rules = null;
      marked = false;
      brokerPorts.clear();
      await teardownNetwork(plan, others);
    },
  };
}
