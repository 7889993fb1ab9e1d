import { createHash } from 'node:crypto';
import type { EgressRules } from '@lodge/domain';
import { hostAddress } from '@lodge/guest';
import { type NetworkPlan, disjointBlocks } from './plan.ts';

/**
 * The rules of one guest in the firewall of its namespace: the chains and sets that differ between agents. They are replaced
 * as a whole, in one transaction.
 *
 *   blocks  addresses that the rules name
 *   pins    addresses that an allowed name has now, each with the mark of the rule's entry, for as long as the name's record lives
 *   live    marks of the entries that are allowed now
 *
 * A connection to a pinned address carries its entry's mark. So it goes on when the pin has expired, and is cut when the
 * entry goes: every packet is checked, not only the first. This needs no state beside the kernel's, because an entry's mark
 * follows from its text.
 */
export interface Allowance {
  readonly names: readonly AllowedName[];
  readonly blocks: readonly string[];
}

export interface AllowedName {
  /** `host`, or `.host` for `*.host`. */
  readonly name: string;
  readonly below: boolean;
  /** 32 bits, never 0. */
  readonly mark: number;
}

/** An address that a name has until `until` (ms since 1970). */
export interface Pin {
  readonly address: string;
  readonly mark: number;
  readonly until: number;
}

/** Most pins of one guest. */
export const mostPins = 2048;
/**
 * Packets that a guest may send to the host's resolver, a second and at once: the process that looks names up reads them.
 */
const lookups = 'rate over 20/second burst 100 packets';

const isBlock = (entry: string): boolean => /^[\d./]+$/.test(entry);

function markOf(entry: string): number {
  const hash = createHash('sha256').update(entry).digest().readUInt32BE(0);
  return (hash | 0x80_00_00_00) >>> 0;
}

/** The allowance of the rules; null if they name nothing and every public address is reached. */
export function allowanceOf({ mode, allow }: EgressRules): Allowance | null {
  if (mode === 'public') return null;
  const entries = mode === 'allowlist' ? allow : [];
  const names = entries.filter((entry) => !isBlock(entry));
  return {
    blocks: disjointBlocks(entries.filter(isBlock)),
    names: names.map((entry) => {
      const below = entry.startsWith('*.');
      return { name: below ? entry.slice(1) : entry, below, mark: markOf(entry) };
    }),
  };
}

/** The entry that allows a name (lower case), or null. */
export function allowedBy({ names }: Pick<Allowance, 'names'>, asked: string): AllowedName | null {
  return (
    names.find(({ name, below }) => (below ? asked.endsWith(name) && asked.length > name.length : asked === name)) ??
    null
  );
}

/** The chains and sets, empty, for the namespace's table. */
export const emptyEgress = `
  map pins { type ipv4_addr : mark; size ${mostPins}; flags timeout; }
  set live { type mark; }
  set blocks { type ipv4_addr; flags interval; }
  chain translate_names { }
  chain names { }
  chain egress { }
  chain answers { }`;

/** The rules that fill them. `pins` are those that still hold. They may be repeated. */
export function egressRules(plan: NetworkPlan, allowance: Allowance | null, pins: readonly Pin[] = []): string {
  const chains = allowance === null ? openChains(plan) : narrowChains(plan);
  const sets: Record<string, readonly (string | number)[]> = {
    blocks: allowance?.blocks ?? [],
    live: [...new Set(allowance?.names.map(({ mark }) => mark) ?? [])],
  };
  return [
    'flush map inet lodge pins',
    ...Object.entries(sets).flatMap(([set, elements]) => [
      `flush set inet lodge ${set}`,
      ...(elements.length > 0 ? [`add element inet lodge ${set} { ${elements.join(', ')} }`] : []),
    ]),
    ...pins.map(addPin),
    ...Object.entries(chains).flatMap(([chain, rules]) => [
      `flush chain inet lodge ${chain}`,
      ...rules.map((rule) => `add rule inet lodge ${chain} ${rule}`),
    ]),
    '',
  ].join('\n');
}

/** Replaces one pin by another; `known` is the map's entry for the address, as far as it is known. */
export function pinText(pin: Pin, known: Pin | undefined): string {
  const { address } = pin;
  // `add` leaves an existing entry as it is, so it can be deleted whether or not it expired just now.
  const taken = [
    `add element inet lodge pins { ${address} : ${known?.mark} }`,
    `delete element inet lodge pins { ${address} }`,
  ];
  return [...(known === undefined ? [] : taken), addPin(pin), ''].join('\n');
}

function addPin({ address, mark, until }: Pin): string {
  const seconds = Math.max(1, Math.ceil((until - Date.now()) / 1000));
  return `add element inet lodge pins { ${address} timeout ${seconds}s : ${mark} }`;
}

type Chains = Readonly<Record<'translate_names' | 'names' | 'egress' | 'answers', readonly string[]>>;

const toDns = 'meta l4proto { tcp, udp } th dport 53';
/** Matches packets to the address that stands for the host, whatever their real destination. */
const translated = `ct original ip daddr ${hostAddress}`;

const closedPorts = ({ closedPorts: ports }: NetworkPlan): string[] =>
  ports.length === 0 ? [] : [`tcp dport { ${ports.join(', ')} } goto refuse`];

/** The guest asks the resolver itself for names. */
function openChains(plan: NetworkPlan): Chains {
  const { resolver } = plan;
  const names = resolver === null ? [] : [`${translated} ip daddr ${resolver} ${toDns} counter name egress accept`];
  return {
    translate_names: resolver === null ? [] : [`ip daddr ${hostAddress} ${toDns} dnat ip to ${resolver}:53`],
    names,
    egress: [...closedPorts(plan), 'goto leaving'],
    answers: ['ct state established,related accept'],
  };
}

/** The guest asks the control plane for names, which pins its answers. Another resolver is an address like any other. */
function narrowChains(plan: NetworkPlan): Chains {
  const { brokerHost, namesPort } = plan;
  const toNames = `${translated} ip daddr ${brokerHost}`;
  return {
    translate_names: [`ip daddr ${hostAddress} ${toDns} dnat ip to ${brokerHost}:${namesPort}`],
    names: [
      `${toNames} udp dport ${namesPort} limit ${lookups} counter name refused drop`,
      `${toNames} tcp dport ${namesPort} ct state new limit ${lookups} counter name refused drop`,
      `${toNames} meta l4proto { tcp, udp } th dport ${namesPort} accept`,
    ],
    egress: [
      ...closedPorts(plan),
      'ip daddr @blocks goto leaving',
      'ct state established,related ct mark @live counter name egress accept',
      'ct mark set ip daddr map @pins goto leaving',
      'goto refuse',
    ],
    answers: [
      'ct state established,related ct original ip daddr @blocks accept',
      'ct state established,related ct mark @live accept',
    ],
  };
}
