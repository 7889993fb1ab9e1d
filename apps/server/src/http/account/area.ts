/**
 * The JSON API of the account area, `/account/api`: for its pages, by session cookie. API keys open nothing here, and the
 * cookie opens nothing below /v1. It is no part of the public API's document.
 */
import { fastifyCookie } from '@fastify/cookie';
import type { Accounts, Log, SignedIn, SpendStore } from '@lodge/engine/ports';
import type { App } from '../context.ts';
import { sendAccountError } from './errors.ts';
import { guard } from './guard.ts';
import { joinRoutes } from './routes/join.ts';
import { keyRoutes } from './routes/keys.ts';
import { memberRoutes } from './routes/members.ts';
import { ownAccountRoute } from './routes/own.ts';
import { passwordRoutes } from './routes/password.ts';
import { sessionRoutes } from './routes/sessions.ts';
import { signInRoutes } from './routes/sign-in.ts';
import { spendRoutes } from './routes/spend.ts';
import { totpRoutes } from './routes/totp.ts';

export interface AccountArea {
  readonly accounts: Accounts;
  readonly spend: SpendStore;
  /** Where browsers reach this service, such as `https://lodge.example.com`. Known only once it listens. */
  readonly origin: () => string;
  /** Folder of the built pages; null serves the API alone. */
  readonly pages: string | null;
}

/** What the routes work with. */
export interface AreaContext extends AccountArea {
  readonly log: Log;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is signed in; set on the account area's routes that are not for anyone. */
    me: SignedIn;
  }
  interface FastifyContextConfig {
    /** A route of the account area for people who are not signed in. */
    readonly anyone?: true;
  }
}

export async function accountArea(app: App, context: AreaContext): Promise<void> {
  await app.register(fastifyCookie);
  app.decorateRequest('me');
  app.setErrorHandler((error, request, reply) => sendAccountError(context.log, error, request, reply));
  app.addHook('onRequest', guard(context));
  for (const routes of [
    signInRoutes,
    sessionRoutes,
    joinRoutes,
    passwordRoutes,
    totpRoutes,
    keyRoutes,
    memberRoutes,
    spendRoutes,
    ownAccountRoute,
  ]) {
    routes(app, context);
  }
}
