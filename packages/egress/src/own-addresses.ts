/** The addresses that this host has itself: what a stranger names must not lead there, past the host's own firewall. */
import { BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';

/** An address that comes, as by DHCP, is refused so soon. A look takes the kernel's list of links, which grows with the agents. */
const freshMs = 1_000;

export type InterfaceAddresses = () => readonly string[];

const ofThisHost: InterfaceAddresses = () =>
  Object.values(networkInterfaces()).flatMap((addresses) => addresses?.map(({ address }) => address) ?? []);

/** Tells whether an address is one of the host's own now. `read`: all that its interfaces have. */
export function ownAddresses(read: InterfaceAddresses = ofThisHost): (address: string) => boolean {
  let known: { readonly own: BlockList; readonly until: number } | null = null;
  return (address) => {
    const now = performance.now();
    if (known === null || known.until <= now) known = { own: listOf(read()), until: now + freshMs };
    const family = isIP(address);
    return family !== 0 && known.own.check(address, family === 4 ? 'ipv4' : 'ipv6');
  };
}

function listOf(addresses: readonly string[]): BlockList {
  const own = new BlockList();
  for (const address of addresses) {
    const family = isIP(address);
    if (family !== 0) own.addAddress(address.split('%')[0]!, family === 4 ? 'ipv4' : 'ipv6');
  }
  return own;
}
