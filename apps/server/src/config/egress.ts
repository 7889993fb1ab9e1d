/** Settings of what agents' machines may reach, all of them. */
import { ipv4Blocks, oneOf } from './values.ts';
import { required } from './setting.ts';

export const egressSettings = {
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
} as const;
