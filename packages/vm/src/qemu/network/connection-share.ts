import { readFile, writeFile } from 'node:fs/promises';

/**
 * The host's connection table is everybody's: what guests open is in it beside what the API, the broker and every other program open, and who comes when it is full
 * is dropped. So guests share three quarters of it, each an equal part, as many as there can be; the sum of the parts is what bounds them, and nothing has to count.
 *
 * A guest's part is what it has open, and what it closed that the kernel still keeps. nft counts the first (`ct count`) and forgets the second, so that is bounded by
 * how many a guest begins over time and how long they are kept.
 */
export interface ConnectionShare {
  /** Entries of the table that one guest can take. */
  readonly entries: number;
  readonly open: number;
  readonly newPerSecond: number;
  readonly newAtOnce: number;
}

const path = '/proc/sys/net/netfilter/nf_conntrack_max';
/** What a guest has where the table is large enough; about 2.5 MiB of the kernel's memory when all are taken. */
const wantedEntries = 8192;
const leastEntries = 64;
const guestsPart = 3 / 4;
/** How long a closed TCP connection is kept, seconds: also for those that the kernel does not count as open. */
const keptClosed = 10;

/** And how much longer an entry that ran out takes up room: the kernel sweeps its table now and then, a busy one more often. */
const sweptAfter = 30;

/** For a table of nft: what connections of guests are kept by. */
export const closedTimeout = `ct timeout guests { protocol tcp; l3proto ip; policy = { time_wait : ${keptClosed}, close : ${keptClosed} }; }`;
/** For the way a guest's packets take there. */
export const setClosedTimeout = 'meta l4proto tcp ct state new ct timeout set "guests"';

/** Size of the host's table at which every guest has what it may want. */
export const wantedTable = (guests: number): number => Math.ceil((guests * wantedEntries) / guestsPart);

/** `tableSize` 0: without a bound. */
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

/** What each guest has of the table as it is now. */
export async function connectionShare(guests: number): Promise<ConnectionShare> {
  return shareOf((await tableSize()) ?? 0, guests);
}

/** Makes the table large enough for the guests where it is not and that is allowed: in a container it is not. */
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

/** What is weak about a table where a guest has less than half of what it may want, and what to do; null for any other. */
export function narrowTable(size: number, guests: number): { readonly detail: string; readonly advice: string } | null {
  const wanted = wantedTable(guests);
  if (size === 0 || shareOf(size, guests).open * 2 >= shareOf(wanted, guests).open) return null;
  const advice = `a start raises it where it may; where it may not: sysctl -w net.netfilter.nf_conntrack_max=${wanted}`;
  return { detail: narrow(size, guests), advice };
}

/** In words, where guests have less than they may want. */
function narrow(found: number, guests: number): string {
  const { open } = shareOf(found, guests);
  return `the host’s connection table has room for ${found} connections, so each of ${guests} guests may have ${open} open`;
}
