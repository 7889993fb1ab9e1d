/**
 * How much one guest may send and receive beyond the host, and how many packets it may send at all. Further packets are
 * dropped, which makes TCP slow down. Traffic between a guest and its host (broker, gateway, files) does not count: it
 * leaves no network interface.
 */

/** A burst may last this long, seconds. */
const burst = 0.25;
/** Frames of any kind that a guest may send a second: small ones cost the host as much as large ones. */
const frames = 'limit rate over 50000/second burst 20000 packets';
/** The smaller bound for the kinds of frames that floods are made of, whose senders do not slow down. */
const floods = 'limit rate over 20000/second burst 10000 packets';

/** First in the chain that sees a guest's frames. */
export const frameLimits = [`${frames} counter drop`, `meta l4proto { icmp, udp } ${floods} counter drop`];

/** The chains, empty, for the namespace's table. */
export const emptyBandwidth = `
  counter over_bandwidth { }
  chain bandwidth_out { }
  chain bandwidth_in { }`;

/** The rules that fill the chains. `mbit`: Mbit/s each way; null: no bound. They may be repeated. */
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
