import { type EgressRules, publicEgress } from '@lodge/domain';
import { guestAddress, guestBrokerPort, guestTlsPort, hostAddress } from '@lodge/guest';
import { bandwidthRules, emptyBandwidth, frameLimits } from './bandwidth.ts';
import { type Chain, inner, tableText } from './chains.ts';
import { type ConnectionShare, closedTimeout, setClosedTimeout } from './connection-share.ts';
import { allowanceOf, egressRules, emptyEgress } from './egress-rules.ts';
import { type NetworkPlan, type SlotAddresses } from './plan.ts';
import { refusals, refuseChains } from './refused.ts';

export interface NamespaceFirewall {
  readonly plan: NetworkPlan;
  readonly addresses: SlotAddresses;
  /** Port at the broker's address that the guest's broker port is translated to. */
  readonly brokerPort: number;
  readonly share: ConnectionShare;
  readonly egress?: EgressRules;
  /** Mbit/s each way beyond the host; null: no bound. */
  readonly mbit?: number | null;
  readonly tap?: string;
}

/**
 * Firewall of one namespace, as nft text. `tap0` is the guest's side, `up0` the host's.
 *
 *   from tap0: only ARP and IPv4 that names the guest's own address as its sender gets in; IPv6, VLANs, IP options and all else end at the tap.
 *              The host's address as the guest knows it stands for the broker (ports 4000 and 443) and the resolver (port 53). Then `from_guest`, then `egress`
 *              (egress-rules.ts), then out with the slot's address.
 *   from up0:  what the host itself begins goes to the guest, which sees it come from the host's address as it knows it; answers come back where `answers` lets them.
 *
 * Nothing in the namespace itself can be reached, and no process in it (a hostile emulator) can reach anyone. Only the
 * kernel's own messages may leave it: to the guest that a connection is refused, and to the host that one is over.
 */
export function namespaceRules({ egress = publicEgress, mbit = null, ...frame }: NamespaceFirewall): string {
  return frameRules(frame) + egressRules(frame.plan, allowanceOf(egress)) + bandwidthRules(mbit);
}

type Frame = Omit<NamespaceFirewall, 'egress' | 'mbit'>;

/**
 * The same for a namespace of an older release, in one transaction. Missing chains exist afterwards, empty, which lets
 * nothing out; the chains of the guest's rules and bandwidth stay as they are. There the link's end on the host had an
 * address, and the host talks to the guest from it.
 */
export function renewedRules(frame: Frame): string {
  return frameRules({ ...frame, hostAddresses: [frame.plan.brokerHost, frame.addresses.formerHostSide] });
}

function frameRules({
  plan,
  addresses,
  brokerPort,
  share,
  tap = 'tap0',
  hostAddresses = [plan.brokerHost],
}: Frame & { readonly hostAddresses?: readonly string[] }): string {
  const drop = (name: string, hook: string, ...rules: string[]): Chain => {
    return { name, hook: `type filter hook ${hook} priority filter; policy drop`, rules };
  };
  const frames = drop(
    'guest_frames',
    `ingress device "${tap}"`,
    ...frameLimits,
    `ether type arp arp htype 1 arp ptype ip arp hlen 6 arp plen 4 arp saddr ip ${guestAddress} accept`,
    `ether type ip ip hdrlength 5 ip saddr ${guestAddress} accept`,
    'counter drop',
  );
  const host = `{ ${hostAddresses.join(', ')} }`;
  const chains = [
    ...refuseChains,
    ...translation(plan, addresses, brokerPort, tap),
    ...fromGuest(plan, brokerPort, share),
    inner(
      'to_guest',
      cutOff,
      `ct state established,related ct original ip saddr ${host} accept`,
      `ct state established,related ct original ip daddr ${hostAddress} accept`,
      `ct state new ip saddr ${host} accept`,
      'jump bandwidth_in',
      'goto answers',
    ),
    drop(
      'forwarding',
      'forward',
      `iifname "${tap}" oifname "up0" meta nfproto ipv4 goto from_guest`,
      `iifname "up0" oifname "${tap}" meta nfproto ipv4 goto to_guest`,
    ),
    drop('to_namespace', 'input'),
    drop(
      'from_namespace',
      'output',
      `oifname "${tap}" ip saddr != ${hostAddress} tcp flags & (syn | rst) == rst accept`,
      `oifname "up0" ip daddr ${host} tcp flags & (syn | rst) == rst accept`,
    ),
  ];
  const objects = ['counter egress { }', closedTimeout, refusals, emptyEgress, emptyBandwidth];
  return tableText('netdev lodge', [], [frames]) + tableText('inet lodge', objects, chains);
}

function translation(plan: NetworkPlan, { guestSide }: SlotAddresses, brokerPort: number, tap: string): Chain[] {
  const nat = (name: string, hook: string, ...rules: string[]): Chain => {
    return { name, hook: `type nat hook ${hook}; policy accept`, rules };
  };
  return [
    nat(
      'translate_destination',
      'prerouting priority dstnat',
      `iifname "up0" ip daddr ${guestSide} dnat ip to ${guestAddress}`,
      `iifname "${tap}" ip daddr ${hostAddress} tcp dport { ${guestBrokerPort}, ${guestTlsPort} } dnat ip to ${plan.brokerHost}:${brokerPort}`,
      `iifname "${tap}" jump translate_names`,
    ),
    nat(
      'translate_source',
      'postrouting priority srcnat',
      `oifname "${tap}" snat ip to ${hostAddress}`,
      `oifname "up0" snat ip to ${guestSide}`,
    ),
  ];
}

/**
 * Handles packets in the middle of a connection that began in another namespace: an earlier one with these addresses, or the
 * one that a guest was saved in. Conntrack would pick it up. This guest must not receive packets for the earlier guest, nor
 * continue its connections; both ends are told that the connection is over.
 */
const cutOff = 'meta l4proto tcp ct state new tcp flags & (fin | syn | rst | ack) != syn goto tell_refused';

/** Broker and resolver answer only at the address that stands for them, whatever their real address is. */
function fromGuest(
  { range, brokerHost, closedBlocks }: NetworkPlan,
  brokerPort: number,
  share: ConnectionShare,
): Chain[] {
  const { open, newPerSecond, newAtOnce } = share;
  return [
    inner(
      'to_host',
      'ct state established,related accept',
      `ct original ip daddr ${hostAddress} ip daddr ${brokerHost} tcp dport ${brokerPort} accept`,
      'goto refuse',
    ),
    inner(
      'leaving',
      'ct state established,related counter name egress accept',
      'meta l4proto { tcp, udp } counter name egress accept',
      'icmp type echo-request counter name egress accept',
      'goto refuse',
    ),
    inner(
      'from_guest',
      'ct state invalid counter name refused drop',
      cutOff,
      `ct state new limit rate over ${newPerSecond}/second burst ${newAtOnce} packets counter name refused drop`,
      `ct state new ct count over ${open} counter name refused drop`,
      setClosedTimeout,
      'jump names',
      `ip daddr ${range} goto to_host`,
      `ip daddr { ${closedBlocks.join(', ')} } goto refuse`,
      'jump bandwidth_out',
      'jump egress',
    ),
  ];
}
