/** The refusals of an agent, out of the lines of its log. */
import type { LogEntry } from '@lodge/sdk';

export interface Refused {
  /** A name, or an address: what an allow list may hold. */
  readonly place: string;
  /** The ports and protocols that were asked for, such as `tcp 443`; none for a name. */
  readonly ways: readonly string[];
  readonly count: number;
  readonly lastAt: string;
}

/** A line of the log about one place. The words end with a count, where there were several. */
const linePattern =
  /^Refused: (?:the name (?<name>[^\s,]{1,256})|(?<protocol>[a-z]{2,8}) (?<address>[\d.]{7,15})(?::(?<port>\d{1,5}))?)[ ,]/;
const timesPattern = /\((\d{1,9}) times\)$/;

/** The places that were refused, the newest first. Lines about anything else are left out. */
export function refusedOf(lines: readonly LogEntry[]): readonly Refused[] {
  const places = new Map<string, Refused>();
  for (const { message, timestamp } of lines) {
    const { name, protocol, address, port } = linePattern.exec(message)?.groups ?? {};
    const place = name?.replace(/\.$/, '') ?? address;
    if (place === undefined) continue;
    const before = places.get(place);
    const way = protocol === undefined ? [] : [port === undefined ? protocol : `${protocol} ${port}`];
    places.set(place, {
      place,
      ways: [...new Set([...(before?.ways ?? []), ...way])],
      count: (before?.count ?? 0) + Number(timesPattern.exec(message)?.[1] ?? 1),
      lastAt: before === undefined || timestamp > before.lastAt ? timestamp : before.lastAt,
    });
  }
  return [...places.values()].toSorted((one, other) => other.lastAt.localeCompare(one.lastAt));
}

/** Whether an allow list names the place already. Blocks of addresses are compared by the whole entry alone. */
export function isAllowed(place: string, allow: readonly string[]): boolean {
  const name = place.toLowerCase();
  return allow.some(
    (entry) => entry === name || entry === `${name}/32` || (entry.startsWith('*.') && name.endsWith(entry.slice(1))),
  );
}
