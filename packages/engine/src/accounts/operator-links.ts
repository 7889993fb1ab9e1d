/** Links of the operator: those made at the command line, and the first one of a deployment. */
import { Refusal, linkLifetimes } from '@lodge/domain';
import type { Happening } from '@lodge/domain';
import type { By, Tokens } from '@lodge/ports';
import {
  accountByEmail,
  endLinks,
  findLink,
  insertLink,
  lockAccount,
  lockFirstOwner,
  ownersOf,
} from '@lodge/store/accounts';
import type { NewLink } from '@lodge/store/accounts';
import type { Database, Transaction } from '@lodge/store/database';
import { appendEvent } from '@lodge/store/events';
import { normaliseEmail } from './person.ts';

const operator: By = { actor: { kind: 'operator', id: null }, address: null, requestId: null };

/** Makes a new link to the owner's account and ends earlier ones. Refuses when somebody has that account already. */
export async function createOwnerLink(database: Database, tokens: Tokens): Promise<string> {
  const owners = await database.repeatable(ownersOf);
  const account = owners.find(({ email }) => email === null);
  if (!account) {
    throw new Refusal(
      'invalid_request',
      owners.length === 0
        ? 'There is no account yet: start Lodge once.'
        : 'The owner is set up already. For a forgotten password there is reset-password.',
    );
  }
  const token = tokens.make();
  const link = { kind: 'owner', accountId: account.id, hash: tokens.hash(token) } as const;
  await database.transaction((trx) => replaceLink(trx, link, { kind: 'owner' }));
  return token;
}

/** Makes a link by which the account's owner sets a new password, and ends earlier ones. */
export async function createResetLink(
  database: Database,
  tokens: Tokens,
  email: string,
  { removesTotp }: { readonly removesTotp: boolean },
): Promise<string> {
  const account = await database.repeatable((db) => accountByEmail(db, normaliseEmail(email), ''));
  if (!account) throw new Refusal('invalid_request', 'No account has this e-mail.');
  const token = tokens.make();
  const hash = tokens.hash(token);
  const link = { kind: 'reset', accountId: account.id, email: account.email, removesTotp, hash } as const;
  await database.transaction((trx) => replaceLink(trx, link, { kind: 'reset', removes_totp: removesTotp }));
  return token;
}

type ReplacingLink = Omit<NewLink, 'lifetimeSeconds'>;

async function replaceLink(
  trx: Transaction,
  link: ReplacingLink,
  data: Extract<Happening, { type: 'link.created' }>['data'],
): Promise<void> {
  await lockAccount(trx, link.accountId);
  await endLinks(trx, link.accountId, link.kind);
  await addLink(trx, link, data, operator);
}

async function addLink(
  trx: Transaction,
  link: ReplacingLink,
  data: Extract<Happening, { type: 'link.created' }>['data'],
  by: By | null,
): Promise<void> {
  const { accountId, kind } = link;
  const { id } = await insertLink(trx, { ...link, lifetimeSeconds: linkLifetimes[kind] });
  const target = { kind: 'link', id };
  await appendEvent(trx, { type: 'link.created', data, accountId, agentId: null, by, target });
}

/**
 * Makes an owner link with this hash for a deployment that nobody has signed in to and that never had such a link. Returns true
 * when it was made. Any number of processes may do so at once.
 */
export const createFirstOwnerLink = (database: Database, hash: Uint8Array): Promise<boolean> =>
  database.transaction(async (trx) => {
    const accountId = await lockFirstOwner(trx);
    if (accountId === undefined) return false;
    await addLink(trx, { kind: 'owner', accountId, hash }, { kind: 'owner' }, null);
    return true;
  });

/** Whether a link with this hash can still be used. */
export const isOpenLink = async (database: Database, hash: Uint8Array): Promise<boolean> =>
  (await database.repeatable((db) => findLink(db, hash))) !== undefined;
