import { ip, nft } from './shell.ts';

/**
 * The network of a slot from the release before egress rules: its firewall, and an address of the host's end of its link,
 * from which the host talked.
 */
export async function makeOlder(
  slotName: string,
  {
    guestSide,
    brokerHost,
    range,
    resolver,
  }: Readonly<Record<'guestSide' | 'brokerHost' | 'range' | 'resolver', string>>,
): Promise<void> {
  const hostEnd = guestSide.replace(/\d+$/, (last) => String(Number(last) - 1));
  await ip(
    null,
    `address add ${hostEnd}/30 dev ${slotName}`,
    `route replace ${guestSide} dev ${slotName} src ${hostEnd}`,
  );
  await nft(
    slotName,
    `flush ruleset
table netdev lodge {
  chain guest_frames {
    type filter hook ingress device "tap0" priority filter; policy drop;
    ether type arp arp htype 1 arp ptype ip arp hlen 6 arp plen 4 arp saddr ip 10.0.2.15 accept
    ether type ip ip hdrlength 5 ip saddr 10.0.2.15 accept
    counter drop
  }
}
table inet lodge {
  counter egress { }
  counter refused { }
  chain translate_destination {
    type nat hook prerouting priority dstnat; policy accept;
    iifname "up0" ip daddr ${guestSide} dnat ip to 10.0.2.15
    iifname "tap0" ip daddr 10.0.2.2 tcp dport 4000 dnat ip to ${brokerHost}:4000
    iifname "tap0" ip daddr 10.0.2.2 meta l4proto { tcp, udp } th dport 53 dnat ip to ${resolver}:53
  }
  chain translate_source {
    type nat hook postrouting priority srcnat; policy accept;
    oifname "tap0" snat ip to 10.0.2.2
    oifname "up0" snat ip to ${guestSide}
  }
  chain to_host {
    ct state established,related accept
    ct original ip daddr 10.0.2.2 ip daddr ${brokerHost} tcp dport 4000 accept
    counter name refused drop
  }
  chain from_guest {
    ct state invalid counter name refused drop
    ct state new ct count over 4096 counter name refused drop
    ct original ip daddr 10.0.2.2 ip daddr ${resolver} meta l4proto { tcp, udp } th dport 53 counter name egress accept
    ip daddr ${range} goto to_host
    ip daddr { 10.0.0.0/8, 127.0.0.0/8, 169.254.0.0/16, 172.16.0.0/12, 192.168.0.0/16 } counter name refused drop
    ct state established,related counter name egress accept
    meta l4proto { tcp, udp } counter name egress accept
    icmp type echo-request counter name egress accept
    counter name refused drop
  }
  chain to_guest {
    ct state established,related accept
    ct state new ip saddr ${hostEnd} accept
  }
  chain forwarding {
    type filter hook forward priority filter; policy drop;
    iifname "tap0" oifname "up0" meta nfproto ipv4 goto from_guest
    iifname "up0" oifname "tap0" meta nfproto ipv4 goto to_guest
  }
  chain to_namespace { type filter hook input priority filter; policy drop; }
  chain from_namespace { type filter hook output priority filter; policy drop; }
}
`,
  );
}
