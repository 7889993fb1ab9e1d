import type { Scope } from '@lodge/domain';
import { Refusal, scopes, scopesOfRole } from '@lodge/domain';
import type { ApiKeyRecord, Caller, SignedIn } from '@lodge/ports';
import { eventOf, isId } from './deps.ts';
import type { AccountDeps } from './deps.ts';

const maxLiveKeys = 100;
const longestName = 100;

export function keys(deps: AccountDeps, me: SignedIn): Promise<readonly ApiKeyRecord[]> {
  return deps.store.keys(me.account.id);
}

export async function createKey(
  deps: AccountDeps,
  me: SignedIn,
  input: { readonly name: string; readonly scopes: readonly Scope[]; readonly expiresAt: Date | null },
  caller: Caller,
): Promise<{ readonly record: ApiKeyRecord; readonly key: string }> {
  const name = input.name.trim();
  if (name === '' || name.length > longestName) {
    throw new Refusal('invalid_request', `name must have 1 to ${longestName} characters.`);
  }
  const wanted = scopes.filter((scope) => input.scopes.includes(scope));
  if (wanted.length === 0) throw new Refusal('invalid_request', 'scopes must not be empty.');
  // A key outlives its session: it must not do more than the person who makes it.
  const own: readonly Scope[] = scopesOfRole[me.account.role];
  const beyond = wanted.filter((scope) => !own.includes(scope));
  if (beyond.length > 0) {
    throw new Refusal(
      'insufficient_scope',
      `Your role lacks the scope ${beyond.join(' and ')}: no key of yours has it.`,
    );
  }
  if (input.expiresAt && !(input.expiresAt > deps.clock())) {
    throw new Refusal('invalid_request', 'expires_at must be in the future.');
  }
  const { id } = me.account;
  const key = deps.crypto.apiKeys.make();
  const stored = {
    name,
    hash: deps.crypto.apiKeys.hash(key),
    last4: deps.crypto.apiKeys.lastFour(key),
    scopes: wanted,
    expiresAt: input.expiresAt,
  };
  const record = await deps.store.transaction(async (tx) => {
    // The lock makes keys that are created at once be counted one after another.
    await tx.lock(id);
    if ((await tx.liveKeys(id)) >= maxLiveKeys) {
      throw new Refusal('quota_exceeded', `This account has ${maxLiveKeys} API keys. Revoke one first.`, {
        retryAfterSeconds: 60,
      });
    }
    const made = await tx.createKey(id, stored);
    const target = { kind: 'api_key', id: made.id };
    const data = { name, last4: made.last4, scopes: wanted, expires_at: made.expiresAt?.toISOString() ?? null };
    await tx.record(eventOf(id, caller, { type: 'api_key.created', target, data }));
    return made;
  });
  return { record, key };
}

/** Revokes a key. Revoking it again changes nothing. */
export async function revokeKey(deps: AccountDeps, me: SignedIn, keyId: string, caller: Caller): Promise<ApiKeyRecord> {
  const { id } = me.account;
  const record = isId(keyId)
    ? await deps.store.transaction(async (tx) => {
        const { revoked, wasLive } = await tx.revokeKey(id, keyId);
        const target = { kind: 'api_key', id: keyId };
        if (wasLive) await tx.record(eventOf(id, caller, { type: 'api_key.revoked', data: {}, target }));
        return revoked;
      })
    : null;
  if (!record) throw new Refusal('key_not_found', 'There is no such API key.');
  return record;
}
