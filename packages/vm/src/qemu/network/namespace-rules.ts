import { specialIpv4Blocks } from '@lodge/domain';
import { guestAddress, guestBrokerPort, hostAddress } from '@lodge/guest';
import { type NetworkPlan, type SlotAddresses } from './plan.ts';

/** Connections that a guest may have open or lately closed at one time: the kernel's memory for them is the whole host's. */
const maxConnections = 4096;
const toDns = 'meta l4proto { tcp, udp } th dport 53';

/**
 * Firewall of one namespace, as nft text. `tap0` is the guest's side, `up0` the host's.
 *
 *   from tap0: only ARP and IPv4 that names the guest's own address as its sender gets in; IPv6, VLANs, IP options and all else end at the tap.
 *              The host's address as the guest knows it stands for the broker (port 4000) and the resolver (port 53). Then `from_guest`, then out with the slot's address.
 *   from up0:  what the host itself begins goes to the guest, which sees it come from the host's address as it knows it.
 *
 * Nothing in the namespace itself can be spoken to, and no process in it (an emulator that was taken over) can speak to anyone.
 */
export function namespaceRules(plan: NetworkPlan, addresses: SlotAddresses, brokerPort: number, tap = 'tap0'): string {
  return `
table netdev lodge {
  chain guest_frames {
    type filter hook ingress device "${tap}" priority filter; policy drop;
    ether type arp arp htype 1 arp ptype ip arp hlen 6 arp plen 4 arp saddr ip ${guestAddress} accept
    ether type ip ip hdrlength 5 ip saddr ${guestAddress} accept
    counter drop
  }
}
table inet lodge {
  counter egress { }
  counter refused { }
${translation(plan, addresses, brokerPort, tap)}
${fromGuest(plan, brokerPort)}
  chain to_guest {
    ct state established,related accept
    ct state new ip saddr ${addresses.hostEnd} accept
  }
  chain forwarding {
    type filter hook forward priority filter; policy drop;
    iifname "${tap}" oifname "up0" meta nfproto ipv4 goto from_guest
    iifname "up0" oifname "${tap}" meta nfproto ipv4 goto to_guest
  }
  chain to_namespace { type filter hook input priority filter; policy drop; }
  chain from_namespace { type filter hook output priority filter; policy drop; }
}
`;
}

function translation(plan: NetworkPlan, { guestSide }: SlotAddresses, brokerPort: number, tap: string): string {
  const { resolver, brokerHost } = plan;
  return `
  chain translate_destination {
    type nat hook prerouting priority dstnat; policy accept;
    iifname "up0" ip daddr ${guestSide} dnat ip to ${guestAddress}
    iifname "${tap}" ip daddr ${hostAddress} tcp dport ${guestBrokerPort} dnat ip to ${brokerHost}:${brokerPort}
    ${resolver === null ? '' : `iifname "${tap}" ip daddr ${hostAddress} ${toDns} dnat ip to ${resolver}:53`}
  }
  chain translate_source {
    type nat hook postrouting priority srcnat; policy accept;
    oifname "${tap}" snat ip to ${hostAddress}
    oifname "up0" snat ip to ${guestSide}
  }`;
}

/** Broker and resolver only at the address that stands for them, whichever address they have in truth. */
function fromGuest({ range, brokerHost, resolver }: NetworkPlan, brokerPort: number): string {
  const translated = `ct original ip daddr ${hostAddress}`;
  return `
  chain to_host {
    ct state established,related accept
    ${translated} ip daddr ${brokerHost} tcp dport ${brokerPort} accept
    counter name refused drop
  }
  chain from_guest {
    ct state invalid counter name refused drop
    ct state new ct count over ${maxConnections} counter name refused drop
    ${resolver === null ? '' : `${translated} ip daddr ${resolver} ${toDns} counter name egress accept`}
    ip daddr ${range} goto to_host
    ip daddr { ${specialIpv4Blocks.join(', ')} } counter name refused drop
    ct state established,related counter name egress accept
    meta l4proto { tcp, udp } counter name egress accept
    icmp type echo-request counter name egress accept
    counter name refused drop
  }`;
}
