/** Links that the operator makes at the command line. */
import { Refusal } from '@lodge/domain';
import type { AccountStore, By, Tokens } from '@lodge/ports';
import { normaliseEmail } from './person.ts';
import { linkLifetimes } from '@lodge/ports';

const operator: By = { actor: { kind: 'operator', id: null }, address: null, requestId: null };

/** Makes a new link to the owner's account and ends earlier ones. Refuses when somebody has that account already. */
export async function createOwnerLink(store: AccountStore, tokens: Tokens): Promise<string> {
  const owners = await store.owners();
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
  await store.transaction(async (tx) => {
    await tx.lock(account.id);
    await tx.endLinks(account.id, 'owner');
    const link = { kind: 'owner', accountId: account.id, email: null, hash: tokens.hash(token) } as const;
    const { id } = await tx.createLink({ ...link, lifetimeSeconds: linkLifetimes.owner });
    const target = { kind: 'link', id };
    const event = { type: 'link.created', data: { kind: 'owner' } } as const;
    await tx.record({ ...event, accountId: account.id, agentId: null, by: operator, target });
  });
  return token;
}

/** Makes a link by which the account's owner sets a new password, and ends earlier ones. */
export async function createResetLink(
  store: AccountStore,
  tokens: Tokens,
  email: string,
  { removesTotp }: { readonly removesTotp: boolean },
): Promise<string> {
  const found = await store.byEmail(normaliseEmail(email), '');
  if (!found) throw new Refusal('invalid_request', 'No account has this e-mail.');
  const { account } = found.credentials;
  const token = tokens.make();
  await store.transaction(async (tx) => {
    await tx.lock(account.id);
    await tx.endLinks(account.id, 'reset');
    const link = { kind: 'reset', accountId: account.id, email: account.email, removesTotp } as const;
    const lifetimeSeconds = linkLifetimes.reset;
    const { id } = await tx.createLink({ ...link, hash: tokens.hash(token), lifetimeSeconds });
    const event = { type: 'link.created', data: { kind: 'reset', removes_totp: removesTotp } } as const;
    await tx.record({ ...event, accountId: account.id, agentId: null, by: operator, target: { kind: 'link', id } });
  });
  return token;
}
