import { readFile } from 'node:fs/promises';
import { TokenBucket } from '@lodge/domain';
import type { RefusedConnection } from '@lodge/ports';
import { type Chain, inner } from './chains.ts';
import { run } from './commands.ts';

/**
 * What a guest was refused, kept by the kernel until it is read: one element for each place, with the time of the first try in its timeout. What finds no more room
 * is counted. No daemon reads along, and nothing a guest does makes the kernel keep more than this.
 */
const mostPlaces = 100;
const mostPings = 20;
const keptSeconds = 3600;
/** Told to the guest a second at most; the rest of its tries is dropped in silence. */
const tellings = 'limit rate 50/second burst 50 packets';

/** For the namespace's table, with `refuseChains`: who goes to `refuse` ends there. */
export const refusals = `
  counter refused { }
  counter refused_more { }
  set refused_places {
    type inet_proto . ipv4_addr . inet_service
    size ${mostPlaces}
    flags dynamic,timeout
    timeout ${keptSeconds}s
  }
  set refused_pings {
    type ipv4_addr
    size ${mostPings}
    flags dynamic,timeout
    timeout ${keptSeconds}s
  }
`;

export const refuseChains: readonly Chain[] = [
  inner('tell_refused', `meta l4proto tcp ${tellings} reject with tcp reset`, 'drop'),
  inner(
    'refuse',
    'counter name refused',
    'meta l4proto { tcp, udp } add @refused_places { meta l4proto . ip daddr . th dport } goto tell_refused',
    'meta l4proto icmp add @refused_pings { ip daddr } goto tell_refused',
    'counter name refused_more',
    'goto tell_refused',
  ),
];

/** As `nft -j` prints it, see libnftables-json(5). */
interface ListedSet {
  readonly name: string;
  readonly elem?: readonly { readonly elem: { readonly val: Value; readonly expires: number } }[];
}

type Value = string | { readonly concat: readonly [number, string, number] };

interface SetListing {
  readonly nftables: readonly {
    readonly set?: ListedSet;
    readonly counter?: { readonly packets: number };
  }[];
}

const protocols: Readonly<Record<number, RefusedConnection['protocol']>> = { 6: 'tcp', 17: 'udp' };
const sets = ['refused_places', 'refused_pings'];
const listAll = [...sets.map((set) => `list set inet lodge ${set}`), 'reset counter inet lodge refused_more'].join(
  '; ',
);

/** As nft takes it again. */
const written = (value: Value): string => (typeof value === 'string' ? value : value.concat.join(' . '));

/** Takes away what was listed, and not what was refused since. */
const forget = ({ name, elem = [] }: ListedSet): string =>
  `delete element inet lodge ${name} { ${elem.map(({ elem: { val } }) => written(val)).join(', ')} }`;

/** Reads what was refused in a namespace since the last time, in no order, and how many packets more found no room. Two processes; one where there is nothing. */
export async function readRefusals(
  namespace: string,
): Promise<{ readonly refused: RefusedConnection[]; readonly more: number }> {
  const inside = [`--net=${namespace}`, 'nft'];
  const answer = await run('nsenter', [...inside, '-j', '-nn', listAll]);
  const listings = answer.split('\n').filter((line) => line !== '');
  const objects = listings.flatMap((line) => (JSON.parse(line) as SetListing).nftables);
  const found = objects.flatMap(({ set }) => (set?.elem?.length ? [set] : []));
  if (found.length > 0) await run('nsenter', [...inside, found.map(forget).join('; ')]);
  const elements = found.flatMap(({ elem = [] }) => elem);
  const refused = elements.map(({ elem: { val, expires } }): RefusedConnection => {
    const at = new Date(Date.now() - (keptSeconds - expires) * 1000);
    if (typeof val === 'string') return { at, protocol: 'icmp', address: val, port: null, name: null };
    const [protocol, address, port] = val.concat;
    return { at, protocol: protocols[protocol] ?? 'tcp', address, port, name: null };
  });
  return { refused, more: objects.find(({ counter }) => counter !== undefined)?.counter?.packets ?? 0 };
}

/** Reads of the kernel's sets, of all guests together: each is a process or two. */
const reads = { perSecond: 4, burst: 8 };
/** What is counted of links can be made to look as it was; so the sets are read this often whatever the links say, ms. */
const unseenMs = 60_000;

/** What all guests of a host share, and one of them has. */
export interface Seen {
  /** A process in the guest's namespace. */
  readonly emulator: number;
  readonly guests: number;
  readonly pace: TokenBucket;
}

export const paceOfReads = (): TokenBucket => new TokenBucket(reads);

/**
 * Says when one guest's refusals are worth a read. A look at its links costs no process: what came in at `tap0` and did not go out at `up0` was refused, or was for
 * nobody. The kernel keeps refusals for an hour, so a read that comes late tells the same.
 */
export class RefusalWatch {
  private heldBack: number | null = null;
  private readAt = -Infinity;

  async isDue({ emulator, guests, pace }: Seen): Promise<boolean> {
    const now = performance.now();
    // Whoever was read leaves the next reads to the others.
    if (now - this.readAt < (guests / reads.perSecond) * 1000) return false;
    const heldBack = await framesHeldBack(emulator);
    const isDue = heldBack === null || heldBack !== this.heldBack || now - this.readAt > unseenMs;
    if (!isDue || !pace.allows(1, now)) return false;
    // What is refused from here on is in this read or makes the next one due.
    this.heldBack = heldBack;
    this.readAt = now;
    return true;
  }
}

/** Frames of the guest that did not leave its namespace; null where the process, or a link there, is gone. */
async function framesHeldBack(emulator: number): Promise<number | null> {
  const text = await readFile(`/proc/${emulator}/net/dev`, 'utf8').catch(() => '');
  // Each line has eight numbers of what was received and eight of what was sent; packets are second.
  const numbersOf = (link: string): number[] =>
    (text.split('\n').find((line) => line.trimStart().startsWith(`${link}:`)) ?? '')
      .split(':')
      .at(-1)!
      .trim()
      .split(/\s+/)
      .map(Number);
  const [received, sent] = [numbersOf('tap0')[1], numbersOf('up0')[9]];
  return received === undefined || sent === undefined ? null : received - sent;
}
