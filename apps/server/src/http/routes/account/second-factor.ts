import { BeginTotp, ConfirmTotp, Nothing, RecoveryCodes, RemoveTotp, TotpBegun } from '@lodge/contract';
import type { Accounts } from '@lodge/engine';
import type { App } from '../../app-types.ts';
import { callerOf, signedIn, tags } from './replies.ts';

type Needs = { readonly accounts: Pick<Accounts, 'beginTotp' | 'confirmTotp' | 'removeTotp'> };

/** `POST` and `DELETE /v1/account/totp`, `POST /v1/account/totp/confirm`. */
export function secondFactorRoutes(app: App, { accounts }: Needs): void {
  app.route({
    method: 'POST',
    url: '/v1/account/totp',
    schema: {
      operationId: 'beginTotp',
      tags,
      summary: 'Begin a second factor',
      description: 'It is in force once a code of it was confirmed.',
      body: BeginTotp,
      response: { 200: { ...TotpBegun, 'x-response-description': 'What the authenticator is given.' } },
    },
    config: { ...signedIn, errors: ['invalid_credentials'] },
    handler: async (request) => {
      const { secret, url } = await accounts.beginTotp(request.me!, request.body, callerOf(request));
      return { secret, otpauth_url: url };
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/account/totp/confirm',
    schema: {
      operationId: 'confirmTotp',
      tags,
      summary: 'Put the second factor in force',
      body: ConfirmTotp,
      response: { 200: { ...RecoveryCodes, 'x-response-description': 'The recovery codes, shown this once.' } },
    },
    config: { ...signedIn, errors: ['invalid_code'] },
    handler: async (request) => ({
      recovery_codes: [...(await accounts.confirmTotp(request.me!, request.body, callerOf(request)))],
    }),
  });

  app.route({
    method: 'DELETE',
    url: '/v1/account/totp',
    schema: {
      operationId: 'removeTotp',
      tags,
      summary: 'Take the second factor off',
      body: RemoveTotp,
      response: { 200: { ...Nothing, 'x-response-description': 'It is off.' } },
    },
    config: { ...signedIn, errors: ['invalid_credentials', 'invalid_code'] },
    handler: async (request) => {
      await accounts.removeTotp(request.me!, request.body, callerOf(request));
      return {};
    },
  });
}
