/** The addresses that an agent's machine may reach beside its model broker, which it always reaches. */
import { Refusal } from './refusal.ts';

export const egressModes = ['public', 'allowlist', 'none'] as const;
export type EgressMode = (typeof egressModes)[number];

/**
 * The mode of the rules.
 *
 * - `public`: any public address.
 * - `allowlist`: only the entries of `allow`.
 * - `none`: nothing.
 */
export interface EgressRules {
  readonly mode: EgressMode;
  /**
   * Up to 100 entries: `host`, `*.host` (every name below it, not itself) and public IPv4 blocks, always with a prefix
   * (`192.0.2.0/24`, `192.0.2.7/32`). All are in lower case ASCII. Empty except with `allowlist`.
   */
  readonly allow: readonly string[];
}

export const publicEgress: EgressRules = { mode: 'public', allow: [] };

/** Most entries of one agent's `allow`. */
export const mostEgressEntries = 100;
/** Most characters of an entry as given: `*.`, a name, and the dot of the root. */
export const longestEgressEntry = 256;

/** Returns the rules in their stored form, with `allow` in ASCII. Refuses with the field's name. */
export function checkedEgress({ mode = 'public', allow = [] }: Partial<EgressRules>): EgressRules {
  if (mode !== 'allowlist' && allow.length > 0) {
    throw new Refusal('invalid_request', `egress.allow is for mode allowlist: with mode ${mode} it would not be read.`);
  }
  const entries = allow.map((entry, index) => checkedEntry(entry, `egress.allow[${index}]`));
  return { mode, allow: [...new Set(entries)] };
}

function checkedEntry(given: string, field: string): string {
  const entry = given.toLowerCase();
  const fault = (words: string): Refusal => new Refusal('invalid_request', `${field} ${words}`);
  if (/^[\d.]+(?:\/\d*)?$/.test(entry)) return checkedBlock(entry, fault);
  if (/^\[?[0-9a-f]*:[0-9a-f]*:/.test(entry)) throw fault('is an IPv6 address: agents reach IPv4 addresses alone.');
  const isWildcard = entry.startsWith('*.');
  const name = (isWildcard ? entry.slice(2) : entry).replace(/\.$/, '');
  if (!isHostName(name)) {
    throw fault('must be a host name such as api.example.com, *.example.com, or an IPv4 block such as 9.9.9.0/24.');
  }
  if (!name.includes('.')) {
    throw fault(
      isWildcard ? 'is too wide: a name of at least two parts follows the *.' : 'must be a whole name, with a dot.',
    );
  }
  return isWildcard ? `*.${name}` : name;
}

/**
 * Whether a name has letters, digits and hyphens only. A last label that is a number would be read as the end of an address.
 */
function isHostName(name: string): boolean {
  const labels = name.split('.');
  const isNumber = /^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1)!);
  return name.length <= 253 && !isNumber && labels.every((label) => /^(?!-)[a-z0-9-]{1,63}(?<!-)$/.test(label));
}

/** Prefix length of the widest block allowed. */
const shortestPrefix = 8;

function checkedBlock(entry: string, fault: (words: string) => Refusal): string {
  const block = parseBlock(entry);
  if (block === null) throw fault('must be an IPv4 address such as 9.9.9.9, or a block such as 9.9.9.0/24.');
  if (block.prefix < shortestPrefix) throw fault(`is too wide: an IPv4 block has a prefix of ${shortestPrefix} to 32.`);
  const special = specialIpv4Blocks.find((other) => overlap(block, parseBlock(other)!));
  if (special !== undefined) {
    throw fault(`is of ${special}, or holds it: only public addresses can be reached.`);
  }
  const octets = [24, 16, 8, 0].map((shift) => Math.floor(block.first / 2 ** shift) % 256);
  return `${octets.join('.')}/${block.prefix}`;
}

interface Block {
  /** Its first address, as a number. */
  readonly first: number;
  readonly prefix: number;
}

/** Returns the block with the bits beyond its prefix cleared, or null when the text is none. */
function parseBlock(text: string): Block | null {
  const [address = '', prefix = '32', ...rest] = text.split('/');
  const octets = address.split('.');
  const isOctet = (octet: string): boolean => /^(?:0|[1-9]\d{0,2})$/.test(octet) && Number(octet) <= 255;
  if (octets.length !== 4 || !octets.every(isOctet) || rest.length > 0) return null;
  if (!/^(?:0|[1-9]\d?)$/.test(prefix) || Number(prefix) > 32) return null;
  const number = octets.reduce((sum, octet) => sum * 256 + Number(octet), 0);
  return { first: number - (number % sizeOf(Number(prefix))), prefix: Number(prefix) };
}

const sizeOf = (prefix: number): number => 2 ** (32 - prefix);

const overlap = (one: Block, other: Block): boolean =>
  one.first < other.first + sizeOf(other.prefix) && other.first < one.first + sizeOf(one.prefix);

/**
 * IPv4 blocks that are not the public internet (IANA's special-purpose registry), multicast and reserved ones included. The
 * documentation blocks are among them: no public service has such an address, but hosts and labs do use them.
 * The list also has the one cloud metadata service with a public address: Azure's WireServer, which takes a request from the
 * host's address for the host's own.
 */
export const specialIpv4Blocks: readonly string[] = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
];
