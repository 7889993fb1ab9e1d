/** People get accounts by the owner link, by an invitation, or by registering where registration is open. */
import { Refusal, networkOf } from '@lodge/domain';
import { EmailTakenError } from '@lodge/ports';
import type { AccountRow, AccountTransaction, Caller, LinkKind, LinkRow, NewPerson, OpenedSession } from '@lodge/ports';
import { registrationLimit } from './attempt-limits.ts';
import { checkPerson } from './person.ts';
import { countAttempt, emailTaken, eventOf, hashed, linkNotValid, openSession } from './deps.ts';
import type { AccountDeps } from './deps.ts';

type ByLink = NewPerson & { readonly token: string };
type Person = Omit<NewPerson, 'password'> & { readonly passwordHash: string };

export function setUp(deps: AccountDeps, input: ByLink, caller: Caller): Promise<OpenedSession> {
  return joinByLink(deps, 'owner', input, caller, async (tx, link, person) => {
    const before = await tx.lock(link.accountId);
    if (!before || before.account.email !== null) throw linkNotValid();
    await tx.endLinks(link.accountId, 'owner');
    return tx.setUp(link.accountId, person);
  });
}

export function acceptInvitation(deps: AccountDeps, input: ByLink, caller: Caller): Promise<OpenedSession> {
  return joinByLink(deps, 'invite', input, caller, (tx, { role }, person) => tx.createAccount({ ...person, role }));
}

export async function register(deps: AccountDeps, input: NewPerson, caller: Caller): Promise<OpenedSession> {
  if (!deps.registrationOpen) throw new Refusal('registration_closed', 'New accounts are by invitation here.');
  const { password, ...person } = checkPerson(input);
  await countAttempt(deps, [registrationLimit(caller.address)]);
  const passwordHash = await hashed(deps, password, caller);
  return join(deps, caller, (tx) => tx.createAccount({ ...person, passwordHash, role: 'member' }), 'registration');
}

async function joinByLink(
  deps: AccountDeps,
  kind: LinkKind,
  input: ByLink,
  caller: Caller,
  become: (tx: AccountTransaction, link: LinkRow, person: Person) => Promise<AccountRow>,
): Promise<OpenedSession> {
  const { password, ...person } = checkPerson(input);
  const hash = deps.crypto.tokens.hash(input.token);
  // Looks the link up first, so that no password is hashed for a caller without one.
  const link = deps.crypto.tokens.isWellFormed(input.token) ? await deps.store.link(hash) : null;
  if (link?.kind !== kind) throw linkNotValid();
  if (kind === 'invite' && link.email !== null && link.email !== person.email) {
    throw new Refusal('invalid_request', 'email must be the one that was invited.');
  }
  const passwordHash = await hashed(deps, password, caller);
  const taken = async (tx: AccountTransaction): Promise<AccountRow> => {
    const mine = await tx.takeLink(kind, hash);
    if (!mine) throw linkNotValid();
    return become(tx, mine, { ...person, passwordHash });
  };
  return join(deps, caller, taken, kind);
}

async function join(
  deps: AccountDeps,
  caller: Caller,
  become: (tx: AccountTransaction) => Promise<AccountRow>,
  by: LinkKind | 'registration',
): Promise<OpenedSession> {
  try {
    return await deps.store.transaction(async (tx) => {
      const account = await become(tx);
      await tx.rememberAddress(account.id, networkOf(caller.address));
      const opened = await openSession(deps, tx, account, caller);
      const target = { kind: 'account', id: account.id };
      await tx.record(eventOf(account.id, caller, { type: 'account.joined', target, data: { by } }));
      return opened;
    });
  } catch (error) {
    throw error instanceof EmailTakenError ? emailTaken() : error;
  }
}
