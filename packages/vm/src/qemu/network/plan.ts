import { isIPv4 } from 'node:net';
import { specialIpv4Blocks } from '@lodge/domain';

/** A block of IPv4 addresses. */
export interface Range {
  /** First address, as a number. */
  readonly base: number;
  /** Bits of the prefix, 0..32. */
  readonly prefix: number;
}

/**
 * Addresses of one slot: a /30 of the instance's range. The host's end of the link has none. Every program that watches the
 * host's network notices an address that comes or goes, and browsers end their requests on it. There the host has the
 * broker's address.
 */
export interface SlotAddresses {
  /** The address in the namespace: the host connects to it, and everything that the guest sends comes from it. */
  readonly guestSide: string;
  /** The host's end of a link that an older release made. */
  readonly formerHostSide: string;
}

/** Names and addresses that follow from the options of one instance. Pure: nothing here looks at the host. */
export interface NetworkPlan {
  readonly instance: string;
  readonly range: string;
  /** Every link and namespace of the instance begins with this; no other instance's names do. */
  readonly linkPrefix: string;
  /**
   * The link with the broker's address and the route of the whole range, so that no packet for a gone slot leaves the host.
   */
  readonly brokerLink: string;
  readonly brokerHost: string;
  readonly brokerPort: number;
  readonly resolver: string | null;
  /** Port at the broker's address where the names of allow lists are looked up. */
  readonly namesPort: number;
  /** The host's name servers for the names of allow lists. */
  readonly nameServers: readonly string[];
  /** Blocks that no guest reaches: those that are not public, and the operator's, without overlaps. */
  readonly closedBlocks: readonly string[];
  /** Destination ports that no guest reaches. */
  readonly closedPorts: readonly number[];
  /** User ids whose processes on the host reach guests. */
  readonly hostUids: readonly number[];
  /** The instance's table of the host's firewall (family inet). */
  readonly table: string;
  readonly maxSlots: number;
  /** Most VMs at one time; they share the host's connection table. */
  readonly guests: number;
  /** Name of the slot's namespace and of the host's end of its link. */
  slotName(slot: number): string;
  slotAddresses(slot: number): SlotAddresses;
  /** The slot a name belongs to, or null. */
  slotOf(name: string): number | null;
}

export interface NetworkOptions {
  /** 1..8 characters `[a-z0-9]`: tells several Lodges on one host apart. */
  readonly instance: string;
  /** Private IPv4 block of this instance alone, `/16` to `/24`: every VM takes four addresses of it. */
  readonly range: string;
  readonly brokerPort: number;
  /** Name server that guests reach at their host's address, port 53; null: none. */
  readonly resolver: string | null;
  /** Name servers for the names of allow lists; by default `resolver`. */
  readonly nameServers?: readonly string[];
  /** The operator's IPv4 blocks that no guest reaches. */
  readonly blocked?: readonly string[];
  /** Most VMs at one time, by the host's memory; by default 24. */
  readonly guests?: number;
  /** Whether guests reach the ports of mail servers; by default `closed`. */
  readonly mail?: 'open' | 'closed';
  /** User id of a control plane that does not run as root: its processes reach guests, as root's do. */
  readonly hostUid?: number;
}

/** SMTP, and submission with and without TLS: abuse of these puts a host on block lists. */
const mailPorts = [25, 465, 587];
const usualGuests = 24;
/** Not 53: a host often has a name server that takes that port of all its addresses. */
const usualNamesPort = 4053;

/** The link between a namespace and its guest: the same in every VM, so no instance's range may touch it. */
export const guestLink = '10.0.2.0/24';
const privateBlocks = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10'];

const toNumber = (address: string): number => address.split('.').reduce((n, part) => n * 256 + Number(part), 0);
const toAddress = (n: number): string => [24, 16, 8, 0].map((shift) => (n >>> shift) & 255).join('.');

/** Reads `a.b.c.d/n` or `a.b.c.d`; null when it is neither, or when bits after the prefix are set. */
export function parseRange(text: string): Range | null {
  const [address = '', bits = '32', ...rest] = text.split('/');
  if (rest.length > 0 || !isIPv4(address) || !/^(\d|[12]\d|3[0-2])$/.test(bits)) return null;
  const range = { base: toNumber(address), prefix: Number(bits) };
  return range.base % 2 ** (32 - range.prefix) === 0 ? range : null;
}

export function overlaps(a: Range, b: Range): boolean {
  return a.base < b.base + 2 ** (32 - b.prefix) && b.base < a.base + 2 ** (32 - a.prefix);
}

function contains(outer: Range, inner: Range): boolean {
  return overlaps(outer, inner) && outer.prefix <= inner.prefix;
}

/**
 * Returns the same addresses in as few blocks as possible, none inside another, because nft accepts no overlapping ones.
 * Throws if one cannot be read.
 */
export function disjointBlocks(texts: readonly string[]): string[] {
  const ranges = texts.map((text) => {
    const range = parseRange(text);
    if (range === null) throw new Error(`Not an IPv4 block such as 192.0.2.0/24: ${text}`);
    return range;
  });
  const kept: Range[] = [];
  for (const range of ranges.toSorted((a, b) => a.base - b.base || a.prefix - b.prefix)) {
    const last = kept.at(-1);
    if (last === undefined || !contains(last, range)) kept.push(range);
  }
  return kept.map(({ base, prefix }) => `${toAddress(base)}/${prefix}`);
}

/** Returns a test whether an IPv4 address lies in one of the blocks. */
export function blockTest(blocks: readonly string[]): (address: string) => boolean {
  const ranges = blocks.map((block) => parseRange(block)!);
  return (address) => {
    const single = parseRange(address);
    return single !== null && ranges.some((range) => contains(range, single));
  };
}

function checkedRange(text: string): Range {
  const range = parseRange(text);
  if (range === null || range.prefix < 16 || range.prefix > 24) {
    throw new Error(
      `The range of the VMs' network must be an IPv4 block from /16 to /24 such as 10.201.0.0/16, not ${text}`,
    );
  }
  if (!privateBlocks.some((block) => contains(parseRange(block)!, range))) {
    throw new Error(`The range of the VMs' network must lie in one of ${privateBlocks.join(', ')}; ${text} does not`);
  }
  if (overlaps(range, parseRange(guestLink)!)) {
    throw new Error(
      `The range of the VMs' network must not contain ${guestLink}, which every VM uses inside; ${text} does`,
    );
  }
  return range;
}

const isPort = (port: number): boolean => Number.isInteger(port) && port >= 1 && port <= 65535;

export function checkPort(port: number): number {
  if (!isPort(port)) throw new Error(`Not a port: ${port}`);
  return port;
}

export function planNetwork(options: NetworkOptions): NetworkPlan {
  const { instance, resolver } = options;
  if (!/^[a-z0-9]{1,8}$/.test(instance)) {
    throw new Error(`The instance's name must be 1 to 8 characters a-z and 0-9, not ${instance}`);
  }
  if (resolver !== null && (!isIPv4(resolver) || /^(0|127)\./.test(resolver))) {
    throw new Error(`The guests' name server must be an IPv4 address beyond this host's loopback, not ${resolver}`);
  }
  const range = checkedRange(options.range);
  const maxSlots = 2 ** (32 - range.prefix) / 4 - 1;
  const checked = (slot: number): number => {
    if (!Number.isInteger(slot) || slot < 0 || slot >= maxSlots)
      throw new Error(`No slot ${slot}: 0 to ${maxSlots - 1}`);
    return slot;
  };
  const linkPrefix = `${instance}-`;
  return {
    instance,
    range: options.range,
    linkPrefix,
    brokerLink: `${linkPrefix}broker`,
    brokerHost: toAddress(range.base + maxSlots * 4 + 1),
    brokerPort: checkPort(options.brokerPort),
    resolver,
    namesPort: options.brokerPort === usualNamesPort ? usualNamesPort + 1 : usualNamesPort,
    nameServers: options.nameServers ?? (resolver === null ? [] : [resolver]),
    closedBlocks: disjointBlocks([...specialIpv4Blocks, ...(options.blocked ?? [])]),
    closedPorts: options.mail === 'open' ? [] : mailPorts,
    hostUids: [0, ...(options.hostUid ? [options.hostUid] : [])],
    table: `lodge_${instance}`,
    maxSlots,
    guests: Math.min(maxSlots, options.guests ?? usualGuests),
    slotName: (slot) => `${linkPrefix}${checked(slot)}`,
    slotAddresses: (slot) => {
      const block = range.base + checked(slot) * 4;
      return { guestSide: toAddress(block + 2), formerHostSide: toAddress(block + 1) };
    },
    slotOf: (name) => {
      const digits = name.startsWith(linkPrefix) ? name.slice(linkPrefix.length) : '';
      return /^(0|[1-9]\d{0,4})$/.test(digits) && Number(digits) < maxSlots ? Number(digits) : null;
    },
  };
}
