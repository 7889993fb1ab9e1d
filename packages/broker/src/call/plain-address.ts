/** A TCP peer's address as the directory has it: IPv4 also where the socket is IPv6. */
export function plainAddress(address: string | undefined): string {
  return (address ?? '').replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '');
}
