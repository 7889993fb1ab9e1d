import { Person, PersonList } from '@lodge/contract';
import type { Accounts } from '@lodge/engine';
import type { App } from '../../app-types.ts';
import { spendLimitRecord } from '../../reply/spend-limit.ts';
import { toWire } from '../../reply/to-wire.ts';
import { signedIn, tags } from './replies.ts';

/** `GET /v1/account/people`. */
export function peopleRoutes(app: App, { accounts }: { readonly accounts: Pick<Accounts, 'members'> }): void {
  app.route({
    method: 'GET',
    url: '/v1/account/people',
    schema: {
      operationId: 'listPeople',
      tags,
      summary: 'List the people of the deployment',
      description: 'For an owner.',
      response: { 200: { ...PersonList, 'x-response-description': 'Everybody with an account.' } },
    },
    config: { ...signedIn, errors: ['owner_only'] },
    handler: async ({ me }) => ({
      data: (await accounts.members(me!)).map((row) =>
        toWire(Person, { ...row, spendLimit: spendLimitRecord(row.spendLimit) }),
      ),
    }),
  });
}
