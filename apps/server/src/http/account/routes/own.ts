import { AccountRecord, UpdateAccount } from '@lodge/contract';
import type { App } from '../../context.ts';
import type { AreaContext } from '../area.ts';
import { accountRecord, callerOf, signedIn } from '../replies.ts';

const hide = true;

export function ownAccountRoute(app: App, { accounts }: AreaContext): void {
  app.route({
    method: 'PATCH',
    url: '/account/api/account',
    schema: { hide, body: UpdateAccount, response: { 200: AccountRecord } },
    config: signedIn,
    handler: async (request) => {
      const { id } = request.me.account;
      const { address, requestId } = callerOf(request);
      const by = { actor: { kind: 'account', id }, address, requestId } as const;
      return accountRecord(await accounts.update(id, { recordsLlmCalls: request.body.record_llm_calls }, by));
    },
  });
}
