import { BlockList, isIP } from 'node:net';
import { specialIpv4Blocks } from '@lodge/domain';

const special = new BlockList();
for (const block of specialIpv4Blocks) {
  const [network, bits] = block.split('/');
  special.addSubnet(network!, Number(bits), 'ipv4');
}
/**
 * IPv6 networks within the global range that are not public: Teredo and 6to4 contain an IPv4 address, one is documentation.
 */
for (const [network, bits] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
] as const) {
  special.addSubnet(network, bits, 'ipv6');
}
const globalUnicast = new BlockList();
globalUnicast.addSubnet('2000::', 3, 'ipv6');

/** Whether an IP address belongs to the public internet. IPv4 addresses in IPv6 form (`::ffff:…`, `64:ff9b::…`) do not. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !special.check(address, 'ipv4');
    case 6:
      return globalUnicast.check(address, 'ipv6') && !special.check(address, 'ipv6');
    default:
      return false;
  }
}
