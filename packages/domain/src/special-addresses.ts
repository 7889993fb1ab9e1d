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
