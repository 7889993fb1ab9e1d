import { readFile, writeFile } from 'node:fs/promises';

/**
 * Everybody on the host shares its connection table: guests, the API, the broker and every other program, and connections to
 * a full table are dropped. So guests share three quarters of it in equal parts, as many as there can be guests. The sum of
 * the parts is the bound, and nothing has to count.
 *
 * A guest's part covers its open connections, and closed ones that the kernel still keeps. nft counts the first kind (`ct
 * count`) and forgets the second. So the second is bounded by the rate at which a guest begins connections and by how long
 * they are kept.
 */
export interface ConnectionShare {
  /** Entries of the table that one guest can take. */
  readonly entries: number;
  readonly open: number;
  readonly newPerSecond: number;
  readonly newAtOnce: number;
}

const path = '/proc/sys/net/netfilter/nf_conntrack_max';
/** Entries of a guest if the table is large enough; about 2.5 MiB of the kernel's memory when all are taken. */
const wantedEntries = 8192;
const leastEntries = 64;
const guestsPart = 3 / 4;
/** How long a closed TCP connection is kept, seconds, even one that the kernel does not count as open. */
const keptClosed = 10;

/** How much longer an expired entry takes up room: the kernel sweeps its table now and then, a busy one more often. */
const sweptAfter = 30;

/** The object of an nft table by which guests' connections are kept. */
export const closedTimeout = `ct timeout guests { protocol tcp; l3proto ip; policy = { time_wait : ${keptClosed}, close : ${keptClosed} }; }`;
/** The rule for the path of a guest's packets to that object. */
export const setClosedTimeout = 'meta l4proto tcp ct state new ct timeout set "guests"';

/** Size of the host's table at which every guest has all its wanted entries. */
export const wantedTable = (guests: number): number => Math.ceil((guests * wantedEntries) / guestsPart);

/** The share of a guest; a `tableSize` of 0 means no bound. */
export function shareOf(tableSize: number, guests: number): ConnectionShare {
  const part = tableSize === 0 ? wantedEntries : Math.floor((tableSize * guestsPart) / guests);
  const entries = Math.min(wantedEntries, Math.max(leastEntries, part));
  return {
    entries,
    open: Math.floor((entries * 3) / 8),
    newPerSecond: Math.max(1, Math.floor(entries / 4 / (keptClosed + sweptAfter))),
    newAtOnce: Math.floor((entries * 3) / 8),
  };
}

/** Entries that the host's table has room for; null where the kernel does not track connections yet. */
export async function tableSize(): Promise<number | null> {
  const text = await readFile(path, 'utf8').catch(() => null);
  return text === null ? null : Number(text);
}

/** The share of each guest in the current table. */
export async function connectionShare(guests: number): Promise<ConnectionShare> {
  return shareOf((await tableSize()) ?? 0, guests);
}

/** Enlarges the table for the guests if it is too small and that is allowed: in a container it is not. */
export async function fitConnectionTable(guests: number, log: (message: string) => void): Promise<void> {
  const [found, wanted] = [await tableSize(), wantedTable(guests)];
  if (found === null || found === 0 || found >= wanted) return;
  const raised = await writeFile(path, String(wanted)).then(
    () => true,
    () => false,
  );
  if (raised) log(`network: the host’s connection table has room for ${wanted} connections now, it had ${found}`);
  else log(`network: ${narrow(found, guests)}`);
}

/** Says that a guest has less than half of its wanted entries, and what to do; null for a larger table. */
export function narrowTable(size: number, guests: number): { readonly detail: string; readonly advice: string } | null {
  const wanted = wantedTable(guests);
  if (size === 0 || shareOf(size, guests).open * 2 >= shareOf(wanted, guests).open) return null;
  const advice = `a start raises it where it may; where it may not: sysctl -w net.netfilter.nf_conntrack_max=${wanted}`;
  return { detail: narrow(size, guests), advice };
}

/** Says that guests have less than they may want. */
function narrow(found: number, guests: number): string {
  const { open } = shareOf(found, guests);
  return `the host’s connection table has room for ${found} connections, so each of ${guests} guests may have ${open} open`;
}
