import { AccountOptions, NoBody, Nothing, SessionBody, SignIn } from '@lodge/contract';
import type { Caller } from '@lodge/engine';
import type { App } from '../../app-types.ts';
import { anyone, begun, callerOf, sessionBody, signedIn, tags } from './replies.ts';
import type { Signing } from './replies.ts';

interface Needs extends Signing {
  /** Where browsers reach this service. */
  readonly origin: () => string;
}

/** `GET /v1/account/options` and `/session`, `POST /v1/account/sign-in` and `/sign-out`. */
export function signInRoutes(app: App, needs: Needs): void {
  readRoutes(app, needs);
  changeRoutes(app, needs);
}

function readRoutes(app: App, { origin, ...signing }: Needs): void {
  const { accounts, sessions } = signing;

  app.route({
    method: 'GET',
    url: '/v1/account/options',
    schema: {
      operationId: 'getAccountOptions',
      tags,
      summary: 'Read what the account area offers',
      response: { 200: { ...AccountOptions, 'x-response-description': 'What it offers.' } },
    },
    config: { public: true },
    handler: async () => ({ registration_open: accounts.registrationOpen, api_base_url: `${origin()}/v1` }),
  });

  app.route({
    method: 'GET',
    url: '/v1/account/session',
    schema: {
      operationId: 'getSession',
      tags,
      summary: 'Read the session of this browser',
      description: '`csrf_token` is what every change by this session carries in `X-CSRF-Token`.',
      response: { 200: { ...SessionBody, 'x-response-description': 'The session and its person.' } },
    },
    config: signedIn,
    handler: async (request) => sessionBody(signing, request.me!, sessions.token(request.headers)!),
  });
}

function changeRoutes(app: App, signing: Signing): void {
  const { accounts, sessions } = signing;

  app.route({
    method: 'POST',
    url: '/v1/account/sign-in',
    schema: {
      operationId: 'signIn',
      tags,
      summary: 'Sign in',
      description:
        'Sets the cookie of a new session. Attempts are counted by e-mail and by address; after a few wrong ones each wait is twice the last.',
      body: SignIn,
      response: { 200: { ...SessionBody, 'x-response-description': 'The session that has begun.' } },
    },
    config: { ...anyone, errors: ['invalid_credentials', 'second_factor_required', 'invalid_code'] },
    handler: async (request, reply) => {
      const caller = callerOf(request);
      const opened = await accounts.signIn(request.body, caller);
      await endPresented(signing, sessions.token(request.headers), caller);
      return begun(signing, reply, opened);
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/account/sign-out',
    schema: {
      operationId: 'signOut',
      tags,
      summary: 'End the session of this browser',
      body: NoBody,
      response: { 200: { ...Nothing, 'x-response-description': 'It has ended.' } },
    },
    config: signedIn,
    handler: async (request, reply) => {
      await accounts.signOut(request.me!, callerOf(request));
      sessions.clear(reply);
      return {};
    },
  });
}

/** Ends the session that the browser brought: after the new cookie nobody could end it. */
async function endPresented({ accounts }: Signing, token: string | null, caller: Caller): Promise<void> {
  const before = token === null ? null : await accounts.signedIn(token);
  if (before) await accounts.signOut(before, caller);
}
