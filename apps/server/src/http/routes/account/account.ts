import { Account, NoQuery, UpdateAccount } from '@lodge/contract';
import type { AccountRow } from '@lodge/engine/ports';
import type { App, HttpContext } from '../../context.ts';

const url = '/v1/account';
const tags = ['Service'];

/** `GET` and `PATCH /v1/account`: the one that the key belongs to. */
export function accountRoutes(app: App, { accounts }: HttpContext): void {
  app.route({
    method: 'GET',
    url,
    schema: {
      operationId: 'getAccount',
      tags,
      summary: 'Read the account of the key',
      querystring: NoQuery,
      response: { 200: { ...Account, 'x-response-description': 'The account.' } },
    },
    handler: async ({ principal }) => accountRecord(await accounts.account(principal.accountId)),
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
      const by = { actor: { kind: 'api_key', id: principal.keyId }, address, requestId } as const;
      const change = { recordsLlmCalls: body.record_llm_calls };
      return accountRecord(await accounts.update(principal.accountId, change, by));
    },
  });
}

const accountRecord = ({ id, name, recordsLlmCalls, createdAt }: AccountRow) => ({
  object: 'account' as const,
  id,
  name,
  record_llm_calls: recordsLlmCalls,
  created_at: createdAt.toISOString(),
});
