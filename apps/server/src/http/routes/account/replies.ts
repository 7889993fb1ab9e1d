/** Parts that the account area's routes share: their configuration, and the records in their replies. */
import { Account, PersonalAccount } from '@lodge/contract';
import type { SessionBody } from '@lodge/contract';
import { sessionEnd } from '@lodge/domain';
import type { AccountRow, Accounts, Caller, OpenedSession, SignedIn } from '@lodge/engine';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Sessions } from '../../identity/session.ts';
import { toWire } from '../../reply/to-wire.ts';

export const tags = ['Account area'];

/** Configuration of a route for signed-in people, without API keys. */
export const signedIn = { sessionOnly: true } as const;
/** Configuration of a route for anyone on one of Lodge's pages. */
export const anyone = { public: true, ownPagesOnly: true } as const;

/** Dependencies of routes that begin or end sessions. */
export interface Signing {
  readonly accounts: Accounts;
  readonly sessions: Sessions;
}

export function callerOf(request: FastifyRequest): Caller {
  return { address: request.ip, userAgent: request.headers['user-agent'] ?? null, requestId: request.id };
}

export function sessionBody({ accounts }: Signing, { session, account }: SignedIn, token: string): SessionBody {
  return {
    session: {
      id: session.id,
      created_at: session.createdAt.toISOString(),
      expires_at: sessionEnd(session).toISOString(),
    },
    account: personalAccount(account),
    csrf_token: accounts.csrfToken(token),
  };
}

/** The account as an API key sees it. */
export const accountRecord = (row: AccountRow) =>
  toWire(Account, { ...row, email: null, role: null, totpEnabled: null });

/** The account as its person sees it. */
export const personalAccount = (row: AccountRow): PersonalAccount =>
  toWire(PersonalAccount, { ...row, totpEnabled: row.totpSealed !== null });

/** Sets the cookie of a new session, and returns the reply's body. */
export function begun(signing: Signing, reply: FastifyReply, opened: OpenedSession): SessionBody {
  signing.sessions.write(reply, opened.token);
  return sessionBody(signing, opened, opened.token);
}
