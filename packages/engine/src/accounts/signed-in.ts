import type { AccountRow, SessionRow } from '@lodge/store/accounts';

/** The origin of a request, for sessions and the audit log. */
export interface Caller {
  readonly address: string;
  readonly userAgent: string | null;
  readonly requestId: string;
}

/** A signed-in person and the session. */
export interface SignedIn {
  readonly session: SessionRow;
  readonly account: AccountRow;
}

/** A session that has just begun. Its token goes into the cookie and is stored nowhere. */
export interface OpenedSession extends SignedIn {
  readonly token: string;
}
