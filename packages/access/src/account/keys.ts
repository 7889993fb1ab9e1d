import { AccountRefusal, scopes } from '@lodge/engine/ports';
import type { ApiKeyRecord, Caller, Scope, SignedIn } from '@lodge/engine/ports';
import { hashApiKey, lastFour, makeApiKey } from '../api-key.ts';
import { eventOf, isId } from './deps.ts';
import type { AccountDeps } from './deps.ts';

const mostLiveKeys = 100;
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
    throw new AccountRefusal('invalid_request', `name must have 1 to ${longestName} characters.`);
  }
  const wanted = scopes.filter((scope) => input.scopes.includes(scope));
  if (wanted.length === 0) throw new AccountRefusal('invalid_request', 'scopes must not be empty.');
  if (input.expiresAt && !(input.expiresAt > deps.clock())) {
    throw new AccountRefusal('invalid_request', 'expires_at must be in the future.');
  }
  const { id } = me.account;
  const key = makeApiKey();
  const stored = { name, hash: hashApiKey(key), last4: lastFour(key), scopes: wanted, expiresAt: input.expiresAt };
  const record = await deps.store.transaction(async (tx) => {
    // Held, so that keys made at once are counted one after another.
    await tx.lock(id);
    if ((await tx.liveKeys(id)) >= mostLiveKeys) {
      throw new AccountRefusal('quota_exceeded', `This account has ${mostLiveKeys} API keys. Revoke one first.`, 60);
    }
    const made = await tx.createKey(id, stored);
    const target = { kind: 'api_key', id: made.id };
    const details = { name, last4: made.last4, scopes: wanted, expires_at: made.expiresAt?.toISOString() ?? null };
    await tx.audit(eventOf(id, caller, { action: 'api_key.created', target, details }));
    return made;
  });
  return { record, key };
}

/** Revoking it again changes nothing. */
export async function revokeKey(deps: AccountDeps, me: SignedIn, keyId: string, caller: Caller): Promise<ApiKeyRecord> {
  const { id } = me.account;
  const record = isId(keyId)
    ? await deps.store.transaction(async (tx) => {
        const { revoked, wasLive } = await tx.revokeKey(id, keyId);
        const target = { kind: 'api_key', id: keyId };
        if (wasLive) await tx.audit(eventOf(id, caller, { action: 'api_key.revoked', target }));
        return revoked;
      })
    : null;
  if (!record) throw new AccountRefusal('key_not_found', 'There is no such API key.');
  return record;
}
