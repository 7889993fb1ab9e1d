/**
 * The host's own addresses. A stranger's name must not lead there, past the host's own firewall. They are read where the
 * kernel decides what it delivers to itself, because interfaces alone lack links without a carrier and local routes.
 */
import { closeSync, openSync, readSync } from 'node:fs';
import { BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';

/** Longest time until a new address, as from DHCP, is refused. */
const freshMs = 1_000;
/**
 * Largest part of the time that looks may take. A look reads the kernel's routes, which grow with the agents: 20 ms for
 * 5,000.
 */
const lookPart = 1 / 50;
/**
 * Bytes of each table that are read; a route takes some 100. On a host with more than 40,000 routes the interfaces cover the
 * rest.
 */
const maxBytes = 4 * 1024 * 1024;

/** Addresses and blocks, as `192.0.2.0/24`. */
export type OwnBlocks = () => readonly string[];

const ofThisHost: OwnBlocks = () => [
  ...Object.values(networkInterfaces()).flatMap((addresses) => addresses?.map(({ address }) => address) ?? []),
  ...localIpv4(textOf('/proc/net/fib_trie')),
  ...addressesIpv6(textOf('/proc/net/if_inet6')),
  ...localIpv6(textOf('/proc/net/ipv6_route')),
];

/** Returns a check whether an address is the host's own now. `read` returns all of them. */
export function ownAddresses(read: OwnBlocks = ofThisHost): (address: string) => boolean {
  let known: { readonly own: BlockList; readonly until: number } | null = null;
  return (address) => {
    const now = performance.now();
    if (known === null || known.until <= now) {
      const own = listOf(read());
      const after = performance.now();
      known = { own, until: after + Math.max(freshMs, (after - now) / lookPart) };
    }
    const family = isIP(address);
    return family !== 0 && known.own.check(address, family === 4 ? 'ipv4' : 'ipv6');
  };
}

function listOf(blocks: readonly string[]): BlockList {
  const own = new BlockList();
  for (const block of blocks) {
    const [address = '', bits] = block.split('/');
    const family = isIP(address);
    if (family === 0) continue;
    const type = family === 4 ? 'ipv4' : 'ipv6';
    if (bits === undefined) own.addAddress(address.split('%')[0]!, type);
    // A proxy (TPROXY) makes every address local. Such a route is no address of the host.
    else if (bits !== '0') own.addSubnet(address, Number(bits), type);
  }
  return own;
}

/**
 * Reads lines `|-- 192.0.2.0`, each followed by a line such as `/24 host LOCAL` for each of its routes. Other tables hold
 * marked traffic.
 */
function localIpv4(table: string): string[] {
  const blocks: string[] = [];
  let [isRead, address] = [false, ''];
  for (const line of table.split('\n')) {
    const words = line.trim().split(' ');
    if (words.at(-1)?.endsWith(':')) isRead = line === 'Main:' || line === 'Local:';
    else if (words[0] === '|--') address = words[1]!;
    else if (isRead && words[0]!.startsWith('/') && words.includes('LOCAL')) blocks.push(address + words[0]);
  }
  return blocks;
}

const addressesIpv6 = (table: string): string[] =>
  table.split('\n').flatMap((line) => (line === '' ? [] : [fromHex(line.slice(0, 32))]));

/** RTF_LOCAL and RTF_ANYCAST of the kernel. */
const toItself = 0x8010_0000;

/** Reads lines of destination, its bits, six more fields and flags, all in hexadecimal digits. */
const localIpv6 = (table: string): string[] =>
  table.split('\n').flatMap((line) => {
    const [destination, bits, , , , , , , flags] = line.split(' ');
    const isLocal = flags !== undefined && (Number.parseInt(flags, 16) & toItself) !== 0;
    return isLocal ? [`${fromHex(destination!)}/${Number.parseInt(bits!, 16)}`] : [];
  });

const fromHex = (digits: string): string =>
  Array.from({ length: 8 }, (_, n) => digits.slice(4 * n, 4 * n + 4)).join(':');

/** Returns whole lines; empty when the kernel has no such file. */
function textOf(path: string): string {
  const chunks: Buffer[] = [];
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return '';
  }
  try {
    for (let bytes = 0; bytes < maxBytes; bytes += chunks.at(-1)!.length) {
      const chunk = Buffer.allocUnsafe(64 * 1024);
      const read = readSync(file, chunk);
      if (read === 0) return Buffer.concat(chunks).toString('latin1');
      chunks.push(chunk.subarray(0, read));
    }
  } finally {
    closeSync(file);
  }
  const text = Buffer.concat(chunks).toString('latin1');
  return text.slice(0, text.lastIndexOf('\n') + 1);
}
