import { ChangePassword, ResetPassword, SessionBody } from '@lodge/contract';
import type { App } from '../../app-types.ts';
import { anyone, begun, callerOf, signedIn, tags } from './replies.ts';
import type { Signing } from './replies.ts';

/** `POST /v1/account/password` and `/v1/account/password-reset`. */
export function passwordRoutes(app: App, signing: Signing): void {
  const { accounts } = signing;
  const response = { 200: { ...SessionBody, 'x-response-description': 'The one session that there is now.' } };

  app.route({
    method: 'POST',
    url: '/v1/account/password',
    schema: {
      operationId: 'changePassword',
      tags,
      summary: 'Change the password',
      description: 'Ends every session and every visit of an agent; this browser gets a new session.',
      body: ChangePassword,
      response,
    },
    config: { ...signedIn, errors: ['invalid_credentials'] },
    handler: async (request, reply) => {
      const { current_password: currentPassword, new_password: newPassword } = request.body;
      const input = { currentPassword, newPassword };
      return begun(signing, reply, await accounts.changePassword(request.me!, input, callerOf(request)));
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/account/password-reset',
    schema: {
      operationId: 'resetPassword',
      tags,
      summary: "Set a password by the operator's link",
      description: 'Ends every session and every visit of an agent; this browser gets a new session.',
      body: ResetPassword,
      response,
    },
    config: { ...anyone, errors: ['link_not_valid', 'second_factor_required', 'invalid_code'] },
    handler: async (request, reply) =>
      begun(signing, reply, await accounts.resetPassword(request.body, callerOf(request))),
  });
}
