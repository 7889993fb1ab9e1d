/** Links that the operator asks for at the command line. */
import { AccountRefusal } from '@lodge/engine/ports';
import type { AccountStore, Actor } from '@lodge/engine/ports';
import { normaliseEmail } from './people.ts';
import { linkLifetimes } from './owner-link.ts';
import { hashToken, makeToken } from './tokens.ts';

const operator = { actor: { kind: 'operator', id: null } as Actor, address: null, requestId: null };

/** A new link to the owner's account, which ends earlier ones. Refuses when somebody has that account already. */
export async function createOwnerLink(store: AccountStore): Promise<string> {
  const owners = await store.owners();
  const account = owners.find(({ email }) => email === null);
  if (!account) {
    throw new AccountRefusal(
      'invalid_request',
      owners.length === 0
        ? 'There is no account yet: start Lodge once.'
        : 'The owner is set up already. For a forgotten password there is reset-password.',
    );
  }
  const token = makeToken();
  await store.transaction(async (tx) => {
    await tx.lock(account.id);
    await tx.endLinks(account.id, 'owner');
    const link = { kind: 'owner', accountId: account.id, email: null, hash: hashToken(token) } as const;
    const { id } = await tx.createLink({ ...link, lifetimeSeconds: linkLifetimes.owner });
    const target = { kind: 'link', id };
    await tx.audit({ ...operator, accountId: account.id, action: 'link.created', target, details: { kind: 'owner' } });
  });
  return token;
}

/** A link by which the account's owner sets a new password; it ends earlier ones. */
export async function createResetLink(
  store: AccountStore,
  email: string,
  { removesTotp }: { readonly removesTotp: boolean },
): Promise<string> {
  const found = await store.byEmail(normaliseEmail(email), '');
  if (!found) throw new AccountRefusal('invalid_request', 'No account has this e-mail.');
  const { account } = found.credentials;
  const token = makeToken();
  await store.transaction(async (tx) => {
    await tx.lock(account.id);
    await tx.endLinks(account.id, 'reset');
    const link = { kind: 'reset', accountId: account.id, email: account.email, removesTotp } as const;
    const lifetimeSeconds = linkLifetimes.reset;
    const { id } = await tx.createLink({ ...link, hash: hashToken(token), lifetimeSeconds });
    const details = { kind: 'reset', removes_totp: removesTotp };
    await tx.audit({
      ...operator,
      accountId: account.id,
      action: 'link.created',
      target: { kind: 'link', id },
      details,
    });
  });
  return token;
}
