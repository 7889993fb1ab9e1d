/** Settings of the destinations of agents' machines, and the host's own for all of them. */
import { integer, required } from '@lodge/ports/settings';
import { ipv4Blocks, oneOf } from './values.ts';

export const egressSettings = {
  networkMbit: required(
    'LODGE_NETWORK_MBIT',
    'Mbit/s, 0..100000',
    '100',
    'The rate at which an agent may send, and receive, beyond this machine, for each of its processors; 0 is without a bound.',
    integer(0, 100_000),
  ),
  egressMail: required(
    'LODGE_EGRESS_MAIL',
    '`closed` or `open`',
    'closed',
    'Whether agents reach ports 25, 465 and 587, and so send mail under the address of this machine.',
    oneOf('closed', 'open'),
  ),
  egressBlocked: required(
    'LODGE_EGRESS_BLOCKED',
    'IPv4 blocks, parted by commas',
    '',
    'Blocks that no agent reaches, beside private and special addresses, such as service addresses of a cloud that look public.',
    ipv4Blocks,
  ),
  connectionAddresses: required(
    'LODGE_CONNECTION_ADDRESSES',
    '`public` or `any`',
    'public',
    "Where connections of agents may lead. `public`: public addresses, by HTTPS. `any`: also this host's own networks, and plain HTTP; only where every user is trusted with them.",
    oneOf('public', 'any'),
  ),
} as const;
