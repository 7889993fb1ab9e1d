import { Nothing, SessionList } from '@lodge/contract';
import { Type } from 'typebox';
import type { App } from '../../context.ts';
import type { AreaContext } from '../area.ts';
import { clearSession } from '../cookie.ts';
import { callerOf, signedIn } from '../replies.ts';

const hide = true;

export function sessionRoutes(app: App, context: AreaContext): void {
  const { accounts } = context;

  app.route({
    method: 'GET',
    url: '/account/api/sessions',
    schema: { hide, response: { 200: SessionList } },
    config: signedIn,
    handler: async ({ me }) => ({
      data: (await accounts.sessions(me)).map((session) => ({
        id: session.id,
        created_at: session.createdAt.toISOString(),
        last_seen_at: session.lastSeenAt.toISOString(),
        expires_at: session.expiresAt.toISOString(),
        address: session.address,
        user_agent: session.userAgent,
        current: session.id === me.session.id,
      })),
    }),
  });

  app.route({
    method: 'DELETE',
    url: '/account/api/sessions/:id',
    schema: { hide, params: Type.Object({ id: Type.String() }), response: { 200: Nothing } },
    config: signedIn,
    handler: async (request, reply) => {
      await accounts.endSession(request.me, request.params.id, callerOf(request));
      if (request.params.id === request.me.session.id) clearSession(context, reply);
      return {};
    },
  });

  app.route({
    method: 'DELETE',
    url: '/account/api/sessions',
    schema: { hide, response: { 200: Nothing } },
    config: signedIn,
    handler: async (request) => {
      await accounts.endOtherSessions(request.me, callerOf(request));
      return {};
    },
  });
}
