import { ChangePassword, ResetPassword, SessionBody } from '@lodge/contract';
import type { App } from '../../context.ts';
import type { AreaContext } from '../area.ts';
import { anyone, begun, callerOf, signedIn } from '../replies.ts';

const hide = true;

export function passwordRoutes(app: App, context: AreaContext): void {
  const { accounts } = context;

  app.route({
    method: 'POST',
    url: '/account/api/password',
    schema: { hide, body: ChangePassword, response: { 200: SessionBody } },
    config: signedIn,
    handler: async (request, reply) => {
      const { current_password: currentPassword, new_password: newPassword } = request.body;
      const input = { currentPassword, newPassword };
      return begun(context, reply, await accounts.changePassword(request.me, input, callerOf(request)));
    },
  });

  app.route({
    method: 'POST',
    url: '/account/api/password-reset',
    schema: { hide, body: ResetPassword, response: { 200: SessionBody } },
    config: anyone,
    handler: async (request, reply) =>
      begun(context, reply, await accounts.resetPassword(request.body, callerOf(request))),
  });
}
