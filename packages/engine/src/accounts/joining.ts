/** People get accounts by the owner link, by an invitation, or by registering where registration is open. */
import { Refusal } from '@lodge/domain';
import type { LinkKind } from '@lodge/domain';
import type { NewEvent } from '@lodge/ports';
import {
  EmailTakenError,
  endLinks,
  findLink,
  insertAccount,
  lockAccount,
  takeLink,
  updateAccount,
} from '@lodge/store/accounts';
import type { AccountRow, LinkRow } from '@lodge/store/accounts';
import type { Transaction } from '@lodge/store/database';
import { appendEvent } from '@lodge/store/events';
import { registrationLimit } from './attempt-limits.ts';
import { checkPerson } from './person.ts';
import type { NewPerson } from './person.ts';
import { countAttempt, emailTaken, eventOf, hashed, linkNotValid, openSession, rememberAddress } from './deps.ts';
import type { AccountDeps } from './deps.ts';
import type { Caller, OpenedSession } from './signed-in.ts';

type ByLink = NewPerson & { readonly token: string };
type Person = Omit<NewPerson, 'password'> & { readonly passwordHash: string };

export function setUp(deps: AccountDeps, input: ByLink, caller: Caller): Promise<OpenedSession> {
  return joinByLink(deps, 'owner', input, caller, async (trx, { accountId }, { name, email, passwordHash }) => {
    const before = await lockAccount(trx, accountId);
    if (!before || before.email !== null) throw linkNotValid();
    await endLinks(trx, accountId, 'owner');
    return updateAccount(trx, accountId, { name, email, passwordHash });
  });
}

export function acceptInvitation(deps: AccountDeps, input: ByLink, caller: Caller): Promise<OpenedSession> {
  return joinByLink(deps, 'invite', input, caller, (trx, { role }, { name, email, passwordHash }) =>
    insertAccount(trx, { name, email, passwordHash, role }),
  );
}

export async function register(deps: AccountDeps, input: NewPerson, caller: Caller): Promise<OpenedSession> {
  if (!deps.registrationOpen) throw new Refusal('registration_closed', 'New accounts are by invitation here.');
  const { password, name, email } = checkPerson(input);
  await countAttempt(deps, [registrationLimit(caller.address)]);
  const passwordHash = await hashed(deps, password, caller);
  const become = async (trx: Transaction): Promise<Joined> => ({
    account: await insertAccount(trx, { name, email, passwordHash, role: 'member' }),
  });
  return join(deps, caller, become, 'registration');
}

async function joinByLink(
  deps: AccountDeps,
  kind: LinkKind,
  input: ByLink,
  caller: Caller,
  become: (trx: Transaction, link: LinkRow, person: Person) => Promise<AccountRow>,
): Promise<OpenedSession> {
  const { password, ...person } = checkPerson(input);
  const { tokens } = deps.crypto;
  const hash = tokens.hash(input.token);
  // Looks the link up first, so that no password is hashed for a caller without one.
  const link = tokens.isWellFormed(input.token) && (await deps.database.repeatable((db) => findLink(db, hash)));
  if (!link || link.kind !== kind) throw linkNotValid();
  if (kind === 'invite' && link.email !== null && link.email !== person.email) {
    throw new Refusal('invalid_request', 'email must be the one that was invited.');
  }
  const passwordHash = await hashed(deps, password, caller);
  const taken = async (trx: Transaction): Promise<Joined> => {
    const mine = await takeLink(trx, kind, hash);
    if (!mine) throw linkNotValid();
    return { account: await become(trx, mine, { ...person, passwordHash }), link: mine };
  };
  return join(deps, caller, taken, kind);
}

interface Joined {
  readonly account: AccountRow;
  readonly link?: LinkRow;
}

async function join(
  deps: AccountDeps,
  caller: Caller,
  become: (trx: Transaction) => Promise<Joined>,
  by: LinkKind | 'registration',
): Promise<OpenedSession> {
  try {
    return await deps.database.transaction(async (trx) => {
      const { account, link } = await become(trx);
      await rememberAddress(trx, account.id, caller);
      const opened = await openSession(deps, trx, account, caller);
      const target = { kind: 'account', id: account.id };
      await appendEvent(trx, eventOf(account.id, caller, { type: 'account.joined', target, data: { by } }));
      if (link?.kind === 'invite') await appendEvent(trx, accepted(link));
      return opened;
    });
  } catch (error) {
    throw error instanceof EmailTakenError ? emailTaken() : error;
  }
}

/** The invitation belongs to the account that made it, so that account learns of its use. */
const accepted = ({ id, accountId }: LinkRow): NewEvent => ({
  type: 'invitation.accepted',
  data: {},
  accountId,
  agentId: null,
  by: null,
  target: { kind: 'invitation', id },
});
