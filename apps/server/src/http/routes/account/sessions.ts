import { Nothing, SessionList, SessionRecord } from '@lodge/contract';
import { sessionEnd } from '@lodge/domain';
import { Type } from 'typebox';
import type { App } from '../../app-types.ts';
import { toWire } from '../../reply/to-wire.ts';
import { callerOf, signedIn, tags } from './replies.ts';
import type { Signing } from './replies.ts';

/** `GET` and `DELETE /v1/account/sessions`, `DELETE` of one by its id. */
export function sessionRoutes(app: App, { accounts, sessions }: Signing): void {
  app.route({
    method: 'GET',
    url: '/v1/account/sessions',
    schema: {
      operationId: 'listSessions',
      tags,
      summary: 'List the sessions of the account',
      response: { 200: { ...SessionList, 'x-response-description': 'All of them, last seen first.' } },
    },
    config: signedIn,
    handler: async ({ me }) => ({
      data: (await accounts.sessions(me!)).map((row) =>
        toWire(SessionRecord, { ...row, expiresAt: sessionEnd(row), current: row.id === me!.session.id }),
      ),
    }),
  });

  app.route({
    method: 'DELETE',
    url: '/v1/account/sessions/:id',
    schema: {
      operationId: 'endSession',
      tags,
      summary: 'End a session',
      params: Type.Object({ id: Type.String() }),
      response: { 200: { ...Nothing, 'x-response-description': 'It has ended.' } },
    },
    config: { ...signedIn, errors: ['session_not_found'] },
    handler: async (request, reply) => {
      const me = request.me!;
      await accounts.endSession(me, request.params.id, callerOf(request));
      if (request.params.id === me.session.id) sessions.clear(reply);
      return {};
    },
  });

  app.route({
    method: 'DELETE',
    url: '/v1/account/sessions',
    schema: {
      operationId: 'endOtherSessions',
      tags,
      summary: 'End every other session',
      response: { 200: { ...Nothing, 'x-response-description': 'They have ended.' } },
    },
    config: signedIn,
    handler: async (request) => {
      await accounts.endOtherSessions(request.me!, callerOf(request));
      return {};
    },
  });
}
