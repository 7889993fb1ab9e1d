import { type Chain, inner, tableText } from './chains.ts';
import { closedTimeout, setClosedTimeout } from './connection-share.ts';
import { type NetworkPlan } from './plan.ts';

const base = (name: string, hook: string, ...rules: string[]): Chain => ({
  name,
  hook: `${hook}; policy accept`,
  rules,
});
const filter = (hook: string, priority = 'filter'): string => `type filter hook ${hook} priority ${priority}`;
const guests = (plan: NetworkPlan): string => `"${plan.linkPrefix}*"`;
const toResolver = ({ resolver }: NetworkPlan): string[] =>
  resolver === null ? [] : [`ip daddr ${resolver} meta l4proto { tcp, udp } th dport 53 accept`];

/** Comes first: no guest forges an address, and nobody outside forges or addresses a guest's. */
function arriving(plan: NetworkPlan): Chain[] {
  const { range } = plan;
  return [
    base(
      'arriving',
      filter('prerouting', 'raw'),
      `iifname ${guests(plan)} goto arriving_from_guest`,
      `iifname != "lo" ip saddr ${range} counter drop`,
      `iifname != "lo" ip daddr ${range} counter drop`,
    ),
    inner('arriving_from_guest', 'meta nfproto != ipv4 counter drop', 'fib saddr . iif oif missing counter drop'),
  ];
}

/**
 * Packets to any address of the host come here. Only two ports answer: the broker's, and the one where the names of allow
 * lists are looked up.
 */
function toHost(plan: NetworkPlan): Chain[] {
  return [
    base(
      'to_host',
      filter('input'),
      `iifname ${guests(plan)} goto to_host_from_guest`,
      // Only guests are answered there, so no process of the host takes their places.
      `ip daddr ${plan.brokerHost} meta l4proto { tcp, udp } th dport ${plan.namesPort} counter reject`,
    ),
    inner(
      'to_host_from_guest',
      'ct state established,related accept',
      setClosedTimeout,
      `ip daddr ${plan.brokerHost} tcp dport ${plan.brokerPort} accept`,
      `ip daddr ${plan.brokerHost} meta l4proto { tcp, udp } th dport ${plan.namesPort} accept`,
      ...toResolver(plan),
      'iifname vmap @slots',
      'counter drop',
    ),
  ];
}

function throughHost(plan: NetworkPlan): Chain[] {
  return [
    base(
      'through_host',
      filter('forward'),
      `iifname ${guests(plan)} goto from_guest`,
      `oifname ${guests(plan)} goto to_guest`,
    ),
    inner(
      'from_guest',
      `oifname ${guests(plan)} counter drop`,
      'ct state invalid counter drop',
      ...toResolver(plan),
      `ip daddr { ${plan.closedBlocks.join(', ')} } counter drop`,
      ...(plan.closedPorts.length === 0 ? [] : [`tcp dport { ${plan.closedPorts.join(', ')} } counter drop`]),
      setClosedTimeout,
      'meta nfproto ipv4 accept',
      'counter drop',
    ),
    inner('to_guest', 'meta nfproto ipv4 ct state established,related accept', 'counter drop'),
  ];
}

/**
 * Packets to a slot that is gone are refused at once; packets to a guest must come from a process of root or of the control
 * plane.
 */
function fromHost(plan: NetworkPlan): Chain[] {
  return [
    base(
      'from_host',
      filter('output'),
      `oifname "${plan.brokerLink}" reject with icmpx type host-unreachable`,
      `oifname ${guests(plan)} goto to_guest_from_host`,
    ),
    inner(
      'to_guest_from_host',
      'meta nfproto != ipv4 counter drop',
      'ct state established,related accept',
      `meta skuid { ${plan.hostUids.join(', ')} } accept`,
      'counter drop',
    ),
    base(
      'translate_source',
      'type nat hook postrouting priority srcnat',
      `ip saddr ${plan.range} oifname != ${guests(plan)} oifname != "lo" masquerade`,
    ),
  ];
}

/**
 * The instance's own table of the host's firewall, as nft text. It holds by itself for every present or future address of
 * the host, whatever a namespace lets through. A guest reaches the broker (and the resolver) and public addresses, never
 * another guest. Only processes of root and of the control plane on this host reach guests. It is applied as a whole in one
 * transaction and may be repeated. The map `slots` and the chains that it leads to stay as they are: they hold the slots
 * with an unusual broker port. Traffic that is neither from nor to a guest passes, and no other table is touched.
 */
export function hostRules(plan: NetworkPlan): string {
  const chains = [...arriving(plan), ...toHost(plan), ...throughHost(plan), ...fromHost(plan)];
  return tableText(`inet ${plan.table}`, ['map slots { type ifname : verdict; }', closedTimeout], chains);
}

/**
 * Lets the slot reach another port at the broker's address than the usual one: a template in the making has a stub there.
 */
export function allowBrokerPort(plan: NetworkPlan, slot: number, port: number): string {
  const { table } = plan;
  const { guestSide } = plan.slotAddresses(slot);
  return `
add chain inet ${table} slot_${slot}
flush chain inet ${table} slot_${slot}
add rule inet ${table} slot_${slot} ip saddr ${guestSide} ip daddr ${plan.brokerHost} tcp dport ${port} accept
add element inet ${table} slots { "${plan.slotName(slot)}" : jump slot_${slot} }
`;
}

/** Takes that back. Succeeds too when there is nothing to take back. */
export function forgetBrokerPort(plan: NetworkPlan, slot: number): string {
  const { table } = plan;
  const element = `element inet ${table} slots { "${plan.slotName(slot)}" : jump slot_${slot} }`;
  return `
add table inet ${table}
add map inet ${table} slots { type ifname : verdict; }
add chain inet ${table} slot_${slot}
add ${element}
delete ${element}
flush chain inet ${table} slot_${slot}
delete chain inet ${table} slot_${slot}
`;
}
