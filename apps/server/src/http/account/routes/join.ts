import { JoinByLink, LinkBody, LinkQuestion, Register, SessionBody } from '@lodge/contract';
import type { App } from '../../context.ts';
import type { AreaContext } from '../area.ts';
import { anyone, begun, callerOf } from '../replies.ts';

const hide = true;

export function joinRoutes(app: App, context: AreaContext): void {
  const { accounts } = context;

  app.route({
    // Not a GET: a path ends up in the logs of whatever stands before the server, and the token opens an account.
    method: 'POST',
    url: '/account/api/links',
    schema: { hide, body: LinkQuestion, response: { 200: LinkBody } },
    config: anyone,
    handler: async (request) => {
      const { kind, email, expiresAt } = await accounts.link(request.body.token);
      return { kind, email, expires_at: expiresAt.toISOString() };
    },
  });

  app.route({
    method: 'POST',
    url: '/account/api/setup',
    schema: { hide, body: JoinByLink, response: { 200: SessionBody } },
    config: anyone,
    handler: async (request, reply) => begun(context, reply, await accounts.setUp(request.body, callerOf(request))),
  });

  app.route({
    method: 'POST',
    url: '/account/api/invitations/accept',
    schema: { hide, body: JoinByLink, response: { 200: SessionBody } },
    config: anyone,
    handler: async (request, reply) =>
      begun(context, reply, await accounts.acceptInvitation(request.body, callerOf(request))),
  });

  app.route({
    method: 'POST',
    url: '/account/api/register',
    schema: { hide, body: Register, response: { 200: SessionBody } },
    config: anyone,
    handler: async (request, reply) => begun(context, reply, await accounts.register(request.body, callerOf(request))),
  });
}
