import { AccountOptions, NoBody, Nothing, SessionBody, SignIn } from '@lodge/contract';
import type { Caller } from '@lodge/engine/ports';
import type { App } from '../../context.ts';
import type { AreaContext } from '../area.ts';
import { clearSession, readSession } from '../cookie.ts';
import { anyone, begun, callerOf, sessionBody, signedIn } from '../replies.ts';

const hide = true;

export function signInRoutes(app: App, context: AreaContext): void {
  const { accounts, origin } = context;

  app.route({
    method: 'GET',
    url: '/account/api/options',
    schema: { hide, response: { 200: AccountOptions } },
    config: anyone,
    handler: async () => ({ registration_open: accounts.registrationOpen, api_base_url: `${origin()}/v1` }),
  });

  app.route({
    method: 'GET',
    url: '/account/api/session',
    schema: { hide, response: { 200: SessionBody } },
    config: signedIn,
    handler: async (request) => sessionBody(context, request.me, readSession(context, request)!),
  });

  app.route({
    method: 'POST',
    url: '/account/api/sign-in',
    schema: { hide, body: SignIn, response: { 200: SessionBody } },
    config: anyone,
    handler: async (request, reply) => {
      const caller = callerOf(request);
      const opened = await accounts.signIn(request.body, caller);
      await endPresented(context, readSession(context, request), caller);
      return begun(context, reply, opened);
    },
  });

  app.route({
    method: 'POST',
    url: '/account/api/sign-out',
    schema: { hide, body: NoBody, response: { 200: Nothing } },
    config: signedIn,
    handler: async (request, reply) => {
      await accounts.signOut(request.me, callerOf(request));
      clearSession(context, reply);
      return {};
    },
  });
}

/** The browser forgets the session it brought along: nobody could end it any more. */
async function endPresented({ accounts }: AreaContext, token: string | null, caller: Caller): Promise<void> {
  const before = token === null ? null : await accounts.signedIn(token);
  if (before) await accounts.signOut(before, caller);
}
