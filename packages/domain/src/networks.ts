/** Networks of client addresses, which are counted together. One machine has many addresses, and one site many machines. */

/** One customer's network: an IPv4 address, or the /64 of an IPv6 one. */
export const networkOf = (address: string): string => prefixOf(address, { v4: 4, v6: 4 });

/** One site's network: the /24 of an IPv4 address, or the /48 of an IPv6 one. */
export const siteOf = (address: string): string => prefixOf(address, { v4: 3, v6: 3 });

/**
 * Returns the first groups of an address: `v4` of four, or `v6` of eight. An address in an unknown form is returned
 * unchanged.
 */
function prefixOf(address: string, { v4, v6 }: { readonly v4: number; readonly v6: number }): string {
  const bare = address.split('%', 1)[0]!;
  const plain = bare.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '');
  if (!plain.includes(':')) {
    const bytes = plain.split('.');
    return bytes.length !== 4 || v4 === 4 ? plain : `${bytes.slice(0, v4).join('.')}.0/${v4 * 8}`;
  }
  const groups = groupsOf(plain).slice(0, v6);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/${v6 * 16}`;
}

/** Returns the eight groups of an IPv6 address, also of one that ends like an IPv4 address. */
function groupsOf(address: string): string[] {
  const plain = address.includes('.') ? `${address.slice(0, address.lastIndexOf(':') + 1)}0:0` : address;
  const [head = '', tail = ''] = plain.split('::');
  const [front, back] = [head, tail].map((part) => (part === '' ? [] : part.split(':')));
  const zeros = Array<string>(Math.max(0, 8 - front!.length - back!.length)).fill('0');
  return [...front!, ...zeros, ...back!];
}
