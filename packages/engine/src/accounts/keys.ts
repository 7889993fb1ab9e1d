import type { Scope } from '@lodge/domain';
import { Refusal, scopes } from '@lodge/domain';
import type { AccountTransaction, ActorNote, ApiKeyRecord, By, NewApiKey, Principal } from '@lodge/ports';
import { isId } from './deps.ts';
import type { AccountDeps } from './deps.ts';

const maxLiveKeys = 100;
const longestName = 100;

export interface KeyInput {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt?: Date | null | undefined;
}

export const keys = (deps: AccountDeps, accountId: string): Promise<readonly ApiKeyRecord[]> =>
  deps.store.keys(accountId);

export async function currentKey(deps: AccountDeps, { accountId, by }: Principal): Promise<ApiKeyRecord> {
  const found = by.kind === 'api_key' ? await deps.store.transaction((tx) => tx.key(accountId, by.id)) : null;
  if (!found) throw new Refusal('key_not_found', 'This request came by a session, not by an API key.');
  return found;
}

export async function createKey(
  deps: AccountDeps,
  maker: Principal,
  input: KeyInput,
  note: ActorNote,
): Promise<{ readonly record: ApiKeyRecord; readonly key: string }> {
  const { accountId } = maker;
  const madeBy = maker.by.kind === 'api_key' ? maker.by.id : null;
  const checked = checkKey(input, maker);
  if (checked.expiresAt && !(checked.expiresAt > deps.clock())) {
    throw new Refusal('invalid_request', 'expires_at must be in the future.');
  }
  const made = newKey(deps, checked);
  const record = await deps.store.transaction(async (tx) => {
    // The lock makes keys that are created at once be counted one after another, and none be made by a key that ends.
    await tx.lock(accountId);
    const expiresAt =
      madeBy === null ? (checked.expiresAt ?? null) : endWithin(await tx.key(accountId, madeBy), checked);
    return addKey(tx, accountId, { ...made.stored, expiresAt, madeBy }, note);
  });
  return { record, key: made.key };
}

/** The plaintext of a new key, and what is stored of it. */
export function newKey(
  { crypto }: AccountDeps,
  { name, scopes: given }: Pick<KeyInput, 'name' | 'scopes'>,
): { readonly key: string; readonly stored: NewApiKey } {
  const key = crypto.apiKeys.make();
  const hash = crypto.apiKeys.hash(key);
  return { key, stored: { name, hash, last4: crypto.apiKeys.lastFour(key), scopes: given, expiresAt: null } };
}

/** Inserts a key with its event, where there is room. The caller has locked the account. */
export async function addKey(
  tx: AccountTransaction,
  accountId: string,
  stored: NewApiKey,
  { by, idempotencyKey }: ActorNote,
): Promise<ApiKeyRecord> {
  await checkRoom(tx, accountId);
  const made = await tx.createKey(accountId, stored);
  const { name, last4, expiresAt } = made;
  const data = { name, last4, scopes: made.scopes, expires_at: expiresAt?.toISOString() ?? null };
  const target = { kind: 'api_key', id: made.id };
  await tx.record({ type: 'api_key.created', data, accountId, agentId: null, by, target }, idempotencyKey);
  return made;
}

export async function checkRoom(tx: AccountTransaction, accountId: string): Promise<void> {
  if ((await tx.liveKeys(accountId)) < maxLiveKeys) return;
  throw new Refusal('quota_exceeded', `This account has ${maxLiveKeys} API keys. Revoke one first.`, {
    retryAfterSeconds: 60,
  });
}

/** Returns the input in one form. A key must not do more than whoever makes it. */
function checkKey(input: KeyInput, maker: Principal): KeyInput {
  const name = input.name.trim();
  if (name === '' || name.length > longestName) {
    throw new Refusal('invalid_request', `name must have 1 to ${longestName} characters.`);
  }
  const wanted = scopes.filter((scope) => input.scopes.includes(scope));
  if (wanted.length === 0) throw new Refusal('invalid_request', 'scopes must not be empty.');
  const beyond = wanted.filter((scope) => !maker.scopes.includes(scope)).join(' and ');
  if (beyond !== '') {
    throw new Refusal(
      'insufficient_scope',
      maker.by.kind === 'session'
        ? `Your role lacks the scope ${beyond}: no key of yours has it.`
        : `This API key lacks the scope ${beyond}: it makes no key that has it.`,
    );
  }
  return { name, scopes: wanted, expiresAt: input.expiresAt };
}

/** The end of a key that a key makes: it does not outlive its maker. */
function endWithin(maker: ApiKeyRecord | null, { expiresAt }: KeyInput): Date | null {
  if (maker === null || maker.revokedAt !== null) throw new Refusal('revoked_api_key', 'This API key was revoked.');
  const end = expiresAt === undefined ? maker.expiresAt : expiresAt;
  if (maker.expiresAt !== null && (end === null || end > maker.expiresAt)) {
    throw new Refusal(
      'invalid_request',
      `expires_at must not be after ${maker.expiresAt.toISOString()}, when the key that makes it expires.`,
    );
  }
  return end;
}

export async function revokeKey(
  { store }: AccountDeps,
  accountId: string,
  keyId: string,
  by: By,
): Promise<ApiKeyRecord> {
  const record = isId(keyId)
    ? await store.transaction(async (tx) => {
        await tx.lock(accountId);
        const { revoked, wasLive, made } = await tx.revokeKey(accountId, keyId);
        const target = { kind: 'api_key', id: keyId };
        const data = made.length > 0 ? { with: made } : {};
        if (wasLive) await tx.record({ type: 'api_key.revoked', data, accountId, agentId: null, by, target });
        return revoked;
      })
    : null;
  if (!record) throw new Refusal('key_not_found', 'There is no such API key.');
  return record;
}
