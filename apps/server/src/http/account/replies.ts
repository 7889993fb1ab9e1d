import type { AccountRecord, SessionBody } from '@lodge/contract';
import type { AccountRow, Caller, OpenedSession, SignedIn } from '@lodge/engine/ports';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AreaContext } from './area.ts';
import { writeSession } from './cookie.ts';

/** Config of a route for people who are signed in; no API key is asked for. */
export const signedIn = { public: true } as const;
/** Config of a route for anyone. */
export const anyone = { public: true, anyone: true } as const;

export function callerOf(request: FastifyRequest): Caller {
  return { address: request.ip, userAgent: request.headers['user-agent'] ?? null, requestId: request.id };
}

export function sessionBody(context: AreaContext, { session, account }: SignedIn, token: string): SessionBody {
  return {
    session: {
      id: session.id,
      created_at: session.createdAt.toISOString(),
      expires_at: session.expiresAt.toISOString(),
    },
    account: accountRecord(account),
    csrf_token: context.accounts.csrfToken(token),
  };
}

export const accountRecord = (account: AccountRow): AccountRecord => ({
  id: account.id,
  name: account.name,
  email: account.email,
  role: account.role,
  totp_enabled: account.totpEnabled,
  record_llm_calls: account.recordsLlmCalls,
  created_at: account.createdAt.toISOString(),
});

/** Sets the cookie of a session that has just begun, and gives the reply's body. */
export function begun(context: AreaContext, reply: FastifyReply, opened: OpenedSession): SessionBody {
  writeSession(context, reply, opened.token);
  return sessionBody(context, opened, opened.token);
}

export const timeOrNull = (time: Date | null): string | null => time?.toISOString() ?? null;
