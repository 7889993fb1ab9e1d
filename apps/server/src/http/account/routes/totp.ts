import { BeginTotp, ConfirmTotp, Nothing, RecoveryCodes, RemoveTotp, TotpBegun } from '@lodge/contract';
import type { App } from '../../context.ts';
import type { AreaContext } from '../area.ts';
import { callerOf, signedIn } from '../replies.ts';

const hide = true;

export function totpRoutes(app: App, { accounts }: AreaContext): void {
  app.route({
    method: 'POST',
    url: '/account/api/totp',
    schema: { hide, body: BeginTotp, response: { 200: TotpBegun } },
    config: signedIn,
    handler: async (request) => {
      const { secret, url } = await accounts.beginTotp(request.me, request.body, callerOf(request));
      return { secret, otpauth_url: url };
    },
  });

  app.route({
    method: 'POST',
    url: '/account/api/totp/confirm',
    schema: { hide, body: ConfirmTotp, response: { 200: RecoveryCodes } },
    config: signedIn,
    handler: async (request) => ({
      recovery_codes: [...(await accounts.confirmTotp(request.me, request.body, callerOf(request)))],
    }),
  });

  app.route({
    method: 'DELETE',
    url: '/account/api/totp',
    schema: { hide, body: RemoveTotp, response: { 200: Nothing } },
    config: signedIn,
    handler: async (request) => {
      await accounts.removeTotp(request.me, request.body, callerOf(request));
      return {};
    },
  });
}
