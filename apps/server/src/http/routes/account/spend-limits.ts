import { AccountSpend, Nothing, patterns, SetSpendLimit } from '@lodge/contract';
import type { Accounts, Spend } from '@lodge/engine';
import { Type } from 'typebox';
import type { App } from '../../app-types.ts';
import { spendLimitOf, spendLimitRecord, spendStanding } from '../../reply/spend-limit.ts';
import { callerOf, signedIn, tags } from './replies.ts';

interface Needs {
  readonly accounts: Pick<Accounts, 'account' | 'setSpendLimit'>;
  readonly spend: Spend;
}

/** `GET /v1/account/spend`, `PUT /v1/account/people/:id/spend-limit`. */
export function spendLimitRoutes(app: App, { accounts, spend }: Needs): void {
  app.route({
    method: 'GET',
    url: '/v1/account/spend',
    schema: {
      operationId: 'getAccountSpend',
      tags,
      summary: 'Read what the account has spent and may spend',
      response: { 200: { ...AccountSpend, 'x-response-description': 'How the account stands.' } },
    },
    config: { scopes: ['usage:read'] },
    handler: async ({ principal: { accountId } }) => {
      const { spendLimit } = await accounts.account(accountId);
      return {
        ...(await spendStanding(spend, accountId, new Date())),
        spend_limit: spendLimitRecord(spendLimit),
      };
    },
  });

  app.route({
    method: 'PUT',
    url: '/v1/account/people/:id/spend-limit',
    schema: {
      operationId: 'setSpendLimit',
      tags,
      summary: 'Limit what an account spends',
      description: 'For an owner, of any account. Null: what the deployment says.',
      params: Type.Object({ id: Type.String({ maxLength: 64, pattern: patterns.text }) }),
      body: SetSpendLimit,
      response: { 200: { ...Nothing, 'x-response-description': 'It holds from the next model call on.' } },
    },
    config: { ...signedIn, errors: ['owner_only', 'account_not_found'] },
    handler: async (request) => {
      const limit = spendLimitOf(request.body.spend_limit);
      await accounts.setSpendLimit(request.me!, request.params.id, limit, callerOf(request));
      return {};
    },
  });
}
