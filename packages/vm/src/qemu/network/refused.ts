import { readFile } from 'node:fs/promises';
import { TokenBucket } from '@lodge/domain';
import type { RefusedConnection } from '@lodge/ports';
import { type Chain, inner } from './chains.ts';
import { run } from './commands.ts';

/**
 * A guest's refused connections, kept by the kernel until they are read: one element for each destination, with the time of
 * the first try in its timeout. Refusals without room are counted. No daemon reads along, and no guest can make the kernel
 * keep more than this.
 */
const mostPlaces = 100;
const mostPings = 20;
const keptSeconds = 3600;
/** Refusals that the guest is told a second; the rest of its tries is dropped silently. */
const tellings = 'limit rate 50/second burst 50 packets';

/** The objects of the namespace's table, with `refuseChains`: packets that go to `refuse` end there. */
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

/** The output of `nft -j`, see libnftables-json(5). */
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

/** A value as nft reads it again. */
const written = (value: Value): string => (typeof value === 'string' ? value : value.concat.join(' . '));

/** Removes the listed elements, and none that were refused since. */
const forget = ({ name, elem = [] }: ListedSet): string =>
  `delete element inet lodge ${name} { ${elem.map(({ elem: { val } }) => written(val)).join(', ')} }`;

/**
 * Reads the refusals in a namespace since the last read, in no order, and the number of further packets that found no room.
 * Takes two processes; one if there is nothing.
 */
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

/** Reads of the kernel's sets for all guests together: each takes a process or two. */
const reads = { perSecond: 4, burst: 8 };
/** A guest can make the counters of links look unchanged, so the sets are read at this interval anyway, ms. */
const unseenMs = 60_000;

/** State that all guests of a host share, and the state of one guest. */
export interface Seen {
  /** A process in the guest's namespace. */
  readonly emulator: number;
  readonly guests: number;
  readonly pace: TokenBucket;
}

export const paceOfReads = (): TokenBucket => new TokenBucket(reads);

/**
 * Says when one guest's refusals are worth a read. A look at its links costs no process: a frame that came in at `tap0` and
 * did not go out at `up0` was refused, or had no receiver. The kernel keeps refusals for an hour, so a late read returns the
 * same.
 */
export class RefusalWatch {
  private heldBack: number | null = null;
  private readAt = -Infinity;

  async isDue({ emulator, guests, pace }: Seen): Promise<boolean> {
    const now = performance.now();
    // A guest that was just read leaves the next reads to the others.
    if (now - this.readAt < (guests / reads.perSecond) * 1000) return false;
    const heldBack = await framesHeldBack(emulator);
    const isDue = heldBack === null || heldBack !== this.heldBack || now - this.readAt > unseenMs;
    if (!isDue || !pace.allows(1, now)) return false;
    // A refusal from here on is in this read or makes the next one due.
    this.heldBack = heldBack;
    this.readAt = now;
    return true;
  }
}

/** Frames of the guest that did not leave its namespace; null if the process, or a link there, is gone. */
async function framesHeldBack(emulator: number): Promise<number | null> {
  const text = await readFile(`/proc/${emulator}/net/dev`, 'utf8').catch(() => '');
  // Each line has eight numbers for received and eight for sent traffic; packets are second.
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
