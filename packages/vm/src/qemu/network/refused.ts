import type { RefusedConnection } from '@lodge/ports';
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

/** For the namespace's table: who goes to `refuse` ends there. */
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
  chain tell_refused {
    meta l4proto tcp ${tellings} reject with tcp reset
    drop
  }
  chain refuse {
    counter name refused
    meta l4proto { tcp, udp } add @refused_places { meta l4proto . ip daddr . th dport } goto tell_refused
    meta l4proto icmp add @refused_pings { ip daddr } goto tell_refused
    counter name refused_more
    goto tell_refused
  }`;

/** As `nft -j` prints it, see libnftables-json(5). */
interface SetListing {
  readonly nftables: readonly {
    readonly set?: {
      readonly name: string;
      readonly elem?: readonly {
        readonly elem: {
          readonly val: string | { readonly concat: readonly [number, string, number] };
          readonly expires: number;
        };
      }[];
    };
    readonly counter?: { readonly packets: number };
  }[];
}

const protocols: Readonly<Record<number, RefusedConnection['protocol']>> = { 6: 'tcp', 17: 'udp' };
const sets = ['refused_places', 'refused_pings'];
const read = `
for set in ${sets.join(' ')}; do nft -j -nn list set inet lodge $set; done
nft -j reset counter inet lodge refused_more
nft '${sets.map((set) => `flush set inet lodge ${set}`).join('; ')}'
`;

/** Reads what was refused in a namespace since the last time, in no order, and how many packets more found no room. */
export async function readRefusals(
  namespace: string,
): Promise<{ readonly refused: RefusedConnection[]; readonly more: number }> {
  const answer = await run('nsenter', [`--net=${namespace}`, 'sh', '-euc', read]);
  const listings = answer.split('\n').filter((line) => line !== '');
  const objects = listings.flatMap((line) => (JSON.parse(line) as SetListing).nftables);
  const elements = objects.flatMap(({ set }) => set?.elem ?? []);
  const refused = elements.map(({ elem: { val, expires } }): RefusedConnection => {
    const at = new Date(Date.now() - (keptSeconds - expires) * 1000);
    if (typeof val === 'string') return { at, protocol: 'icmp', address: val, port: null, name: null };
    const [protocol, address, port] = val.concat;
    return { at, protocol: protocols[protocol] ?? 'tcp', address, port, name: null };
  });
  return { refused, more: objects.find(({ counter }) => counter !== undefined)?.counter?.packets ?? 0 };
}
