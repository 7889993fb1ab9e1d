/** Settings of webhooks. */
import { integer, required } from '@lodge/ports/settings';
import { oneOf } from './values.ts';

export const webhookSettings = {
  webhookAddresses: required(
    'LODGE_WEBHOOK_ADDRESSES',
    '`public` or `any`',
    'public',
    'Where webhooks may lead: public addresses by https, or any, by http too. With `any` whoever has an account sends requests into the network of this machine.',
    oneOf('public', 'any'),
  ),
  webhooksPerAccount: required(
    'LODGE_WEBHOOKS_PER_ACCOUNT',
    'count, 0..1000',
    '20',
    'Webhooks that an account may have.',
    integer(0, 1_000),
  ),
} as const;
