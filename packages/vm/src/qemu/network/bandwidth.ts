/**
 * How much one guest may send and receive beyond the host, and how many packets it may send at all. Above it is dropped, which TCP takes as a sign to slow down. What
 * passes between a guest and its host (broker, gateway, files) is not counted: it leaves no network interface.
 */

/** A burst may last this long, seconds. */
const burst = 0.25;
/** Frames a guest may send a second, of whatever kind: small ones cost the host as much as large ones. */
const frames = 'limit rate over 50000/second burst 20000 packets';
/** Of those, the kinds that floods are made of, where nobody slows down by himself. */
const floods = 'limit rate over 20000/second burst 10000 packets';

/** First in the chain that sees a guest's frames. */
export const frameLimits = [`${frames} counter drop`, `meta l4proto { icmp, udp } ${floods} counter drop`];

/** The chains, empty, for the namespace's table. */
export const emptyBandwidth = `
  counter over_bandwidth { }
  chain bandwidth_out { }
  chain bandwidth_in { }`;

/** Fills them. `mbit`: Mbit/s each way; null: no bound. May be repeated. */
export function bandwidthRules(mbit: number | null): string {
  const kbytes = mbit === null ? 0 : Math.max(1, Math.floor((mbit * 1_000_000) / 8 / 1024));
  const limit = `limit rate over ${kbytes} kbytes/second burst ${Math.max(64, Math.floor(kbytes * burst))} kbytes`;
  return ['bandwidth_out', 'bandwidth_in']
    .flatMap((chain) => [
      `flush chain inet lodge ${chain}`,
      ...(mbit === null ? [] : [`add rule inet lodge ${chain} ${limit} counter name over_bandwidth drop`]),
    ])
    .concat('')
    .join('\n');
}
