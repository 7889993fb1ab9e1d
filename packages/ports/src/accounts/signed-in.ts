import type { AccountRow, SessionRow } from './account-store.ts';

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
