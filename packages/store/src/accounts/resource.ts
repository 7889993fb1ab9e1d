import { totpContext } from '@lodge/ports';
import type { StoredResource } from '../database/stored-resource.ts';

export const accountTables = {
  topics: ['api_key_changed'],
  sealed: [
    { table: 'accounts', column: 'totp_sealed', key: ['id'], context: totpContext },
    { table: 'accounts', column: 'totp_pending_sealed', key: ['id'], context: totpContext },
  ],
  columns: {
    'account_links.kind': 'domain.LinkKind',
    'account_links.role': 'domain.InvitedRole',
    'accounts.role': 'domain.Role',
    'accounts.spend_limit': 'JsonColumn<domain.SpendLimit>',
    'api_keys.scopes': 'domain.Scope',
    'oauth_codes.scopes': 'domain.Scope',
    'oauth_devices.granted': 'domain.Scope',
    'oauth_devices.scopes': 'domain.Scope',
    'oauth_grants.scopes': 'domain.Scope',
  },
} as const satisfies StoredResource;
