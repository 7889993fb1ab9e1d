/** People get accounts by the owner link, by an invitation, or by registering where registration is open. */
import { Refusal, networkOf } from '@lodge/domain';
import { EmailTakenError } from '@lodge/ports';
import type {
  AccountRow,
  AccountTransaction,
  Caller,
  LinkKind,
  LinkRow,
  NewEvent,
  NewPerson,
  OpenedSession,
} from '@lodge/ports';
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
  const become = async (tx: AccountTransaction): Promise<Joined> => ({
    account: await tx.createAccount({ ...person, passwordHash, role: 'member' }),
  });
  return join(deps, caller, become, 'registration');
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
  const taken = async (tx: AccountTransaction): Promise<Joined> => {
    const mine = await tx.takeLink(kind, hash);
    if (!mine) throw linkNotValid();
    return { account: await become(tx, mine, { ...person, passwordHash }), link: mine };
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
  become: (tx: AccountTransaction) => Promise<Joined>,
  by: LinkKind | 'registration',
): Promise<OpenedSession> {
  try {
    return await deps.store.transaction(async (tx) => {
      const { account, link } = await become(tx);
      await tx.rememberAddress(account.id, networkOf(caller.address));
      const opened = await openSession(deps, tx, account, caller);
      const target = { kind: 'account', id: account.id };
      await tx.record(eventOf(account.id, caller, { type: 'account.joined', target, data: { by } }));
      if (link?.kind === 'invite') await tx.tell(accepted(link));
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
