import { hookSecretContext } from '@lodge/ports';
import type { StoredResource } from '../database/stored-resource.ts';

export const hookTables = {
  topics: [],
  sealed: [{ table: 'hooks', column: 'secret_sealed', key: ['id'], context: hookSecretContext }],
  columns: {
    'hook_messages.status': 'domain.HookMessageEnd',
    'hooks.deliver_channel': 'domain.ChannelName',
    'hooks.deliver_to': 'domain.DeliverTarget',
    'hooks.signature': 'domain.SignatureKind',
    'hooks.signature_encoding': 'domain.SignatureEncoding',
  },
} as const satisfies StoredResource;
