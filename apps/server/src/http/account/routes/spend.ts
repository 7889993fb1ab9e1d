import { AccountSpend, Nothing, patterns, SetSpendLimit } from '@lodge/contract';
import { Type } from 'typebox';
import type { App } from '../../context.ts';
import { spendLimitOf, spendLimitRecord, spendStanding } from '../../spend-limit.ts';
import type { AreaContext } from '../area.ts';
import { callerOf, signedIn } from '../replies.ts';

const hide = true;

export function spendRoutes(app: App, { accounts, spend }: AreaContext): void {
  app.route({
    method: 'GET',
    url: '/account/api/spend',
    schema: { hide, response: { 200: AccountSpend } },
    config: signedIn,
    handler: async ({ me: { account } }) => ({
      ...(await spendStanding(spend, account.id, new Date())),
      spend_limit: spendLimitRecord(account.spendLimit),
    }),
  });

  app.route({
    method: 'PUT',
    url: '/account/api/members/:id/spend-limit',
    schema: {
      hide,
      params: Type.Object({ id: Type.String({ maxLength: 64, pattern: patterns.text }) }),
      body: SetSpendLimit,
      response: { 200: Nothing },
    },
    config: signedIn,
    handler: async (request) => {
      const limit = spendLimitOf(request.body.spend_limit);
      await accounts.setSpendLimit(request.me, request.params.id, limit, callerOf(request));
      return {};
    },
  });
}
