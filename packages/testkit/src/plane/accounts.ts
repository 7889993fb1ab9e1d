/** For tests: accounts over a real database. */
/* oxlint-disable no-restricted-imports -- only tests import this file */
import { cryptography } from '@lodge/access';
import { randomBytes } from 'node:crypto';
import type { Store } from '@lodge/store';
import type { TestDatabase } from '@lodge/testkit/postgres';
import { scopesOfRole } from '@lodge/domain';
import type { By, Principal } from '@lodge/ports';
import { TOTP } from 'otpauth';
import type { Accounts } from '../../../engine/src/accounts/accounts.ts';
import { createOwnerLink } from '../../../engine/src/accounts/operator-links.ts';
import type { Caller, OpenedSession, SignedIn } from '../../../engine/src/accounts/signed-in.ts';
import { openAccounts, silent } from './wired-accounts.ts';

export { silent };
export const password = 'correct horse battery staple';

let requests = 0;
/** The accounts' clock stands still, the database's does not: no code is a step too old by the time that it is looked at. */
export const now = Date.now();

/** A request from an address that no other test uses, unless one is given. */
export function caller(address = `10.${(requests >> 8) & 255}.${requests & 255}.7`): Caller {
  requests += 1;
  return { address, userAgent: 'test', requestId: `req_${requests}` };
}

/** A person as the principal of a request. */
export const principalOf = ({ account, session }: SignedIn): Principal => ({
  accountId: account.id,
  scopes: scopesOfRole[account.role],
  by: { kind: 'session', id: session.id },
});

export const byOf = ({ account }: SignedIn, { address, requestId }: Caller = caller()): By => ({
  actor: { kind: 'account', id: account.id },
  address,
  requestId,
});

export interface TestAccounts {
  readonly database: TestDatabase;
  readonly store: Store;
  readonly accounts: Accounts;
  /** The first account, set up and signed in. */
  readonly owner: OpenedSession;
  /** A member with an e-mail of its own, signed in. */
  member(): Promise<OpenedSession>;
  close(): Promise<void>;
}

export async function testAccounts(registrationOpen = false): Promise<TestAccounts> {
  const opened = await openAccounts({ registrationOpen, clock: () => new Date(now) });
  const { database, store, accounts } = opened;
  const token = await createOwnerLink(store.database, cryptography.tokens);
  const owner = await accounts.setUp({ token, email: 'owner@example.com', name: 'Ada', password }, caller());
  return {
    database,
    store,
    accounts,
    owner,
    async member() {
      const invitation = await accounts.invite(owner, { email: null }, caller());
      const email = `${randomBytes(6).toString('hex')}@example.com`;
      return accounts.acceptInvitation({ token: invitation.token, email, name: 'Bo', password }, caller());
    },
    close: () => opened.close(),
  };
}

/** An authenticator's code, `steps` of 30 s from now. */
export function codeOf(secret: string, steps = 0): string {
  return new TOTP({ secret }).generate({ timestamp: now + steps * 30_000 });
}

/** The text of a call's refusal. */
export async function refusalOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
  return 'nothing';
}
