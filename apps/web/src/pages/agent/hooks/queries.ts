import { queryOptions } from '@tanstack/react-query';
import type { CreateHook, Hook } from '@lodge/sdk';
import { change, list, lodge } from '../../../api.ts';

export const hooksQuery = (agentId: string) =>
  queryOptions({ queryKey: ['agent', agentId, 'hooks'], queryFn: () => list(lodge.hooks.list(agentId)) });

export const hookMessagesKey = (agentId: string, hook: string) =>
  ['agent', agentId, 'hooks', hook, 'messages'] as const;
export const hookMessagesPage = (agentId: string, hook: string) => (cursor: string | undefined) =>
  lodge.hooks.messages(agentId, hook, cursor === undefined ? { limit: 20 } : { limit: 20, cursor });

export const hookChanges = (agentId: string) => ({
  create: (body: CreateHook) => change(() => lodge.hooks.create(agentId, body)),
  remove: (hook: string) => change(() => lodge.hooks.delete(agentId, hook)),
});

type Signature = NonNullable<Hook['signature']>;

export const signatureTitles: Readonly<Record<Signature['type'], string>> = {
  github: 'GitHub',
  stripe: 'Stripe',
  standard: 'Standard Webhooks',
  hmac: 'HMAC in a header of its own',
};
