import { Account, UpdateAccount } from '@lodge/contract';
import type { Accounts } from '@lodge/engine';
import type { App } from '../../app-types.ts';
import { actorOf } from '../../identity/principal.ts';
import { accountRecord, personalAccount } from './replies.ts';

const url = '/v1/account';
const tags = ['Service'];

/** `GET` and `PATCH /v1/account`: the account of the key or session. */
export function accountRoutes(
  app: App,
  { accounts }: { readonly accounts: Pick<Accounts, 'account' | 'update'> },
): void {
  app.route({
    method: 'GET',
    url,
    schema: {
      operationId: 'getAccount',
      tags,
      summary: 'Read the account of the key',
      response: { 200: { ...Account, 'x-response-description': 'The account.' } },
    },
    handler: async ({ principal: { accountId, by } }) => {
      const account = await accounts.account(accountId);
      return by.kind === 'session' ? personalAccount(account) : accountRecord(account);
    },
  });

  app.route({
    method: 'PATCH',
    url,
    schema: {
      operationId: 'updateAccount',
      tags,
      summary: 'Change the account of the key',
      description:
        'Holds from the next model call on. Turned off, nothing more is kept, calls under way among it; what was kept stays for its time.',
      body: UpdateAccount,
      response: { 200: { ...Account, 'x-response-description': 'The account as it is now.' } },
    },
    config: { scopes: ['agents:write'] },
    handler: async ({ principal, body, ip: address, id: requestId }) => {
      const by = { actor: actorOf(principal), address, requestId } as const;
      const change = { recordLlmCalls: body.record_llm_calls };
      const account = await accounts.update(principal.accountId, change, by);
      return principal.by.kind === 'session' ? personalAccount(account) : accountRecord(account);
    },
  });
}
