import type { Scope } from '@lodge/domain';
import { Refusal, scopes } from '@lodge/domain';
import type { ActorNote, By, NewEvent, Principal } from '@lodge/ports';
import { countLiveKeys, findKey, insertKey, keysOf, lockAccount, revokeKeys } from '@lodge/store/accounts';
import type { GrantKey, KeyRow, NewKey } from '@lodge/store/accounts';
import type { Transaction } from '@lodge/store/database';
import { appendEvent } from '@lodge/store/events';
import { markEffective } from '@lodge/store/http';
import { isId } from './deps.ts';
import type { AccountDeps } from './deps.ts';

const maxLiveKeys = 100;
const longestName = 100;

export interface KeyInput {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt?: Date | null | undefined;
}

/** All keys of an account, newest first, revoked ones too. */
export const keys = ({ database }: AccountDeps, accountId: string): Promise<readonly KeyRow[]> =>
  database.repeatable((db) => keysOf(db, accountId));

/** Returns the key of the principal itself. Refuses a session. */
export async function currentKey({ database }: AccountDeps, { accountId, by }: Principal): Promise<KeyRow> {
  const found = by.kind === 'api_key' && (await database.repeatable((db) => findKey(db, accountId, by.id)));
  if (!found) throw new Refusal('key_not_found', 'This request came by a session, not by an API key.');
  return found;
}

/**
 * Creates a key with at most the scopes of its maker and, where that is a key, no longer life. `key` is the whole key, which is
 * shown only once.
 */
export async function createKey(
  deps: AccountDeps,
  maker: Principal,
  input: KeyInput,
  note: ActorNote,
): Promise<{ readonly record: KeyRow; readonly key: string }> {
  const { accountId } = maker;
  const madeBy = maker.by.kind === 'api_key' ? maker.by.id : null;
  const checked = checkKey(input, maker);
  if (checked.expiresAt && !(checked.expiresAt > deps.clock())) {
    throw new Refusal('invalid_request', 'expires_at must be in the future.');
  }
  const made = newKey(deps, checked);
  const record = await deps.database.transaction(async (trx) => {
    // The lock makes keys that are created at once be counted one after another, and none be made by a key that ends.
    await lockAccount(trx, accountId);
    const expiresAt =
      madeBy === null ? (checked.expiresAt ?? null) : endWithin(await findKey(trx, accountId, madeBy), checked);
    return addKey(trx, { ...made.stored, accountId, expiresAt, madeBy }, note);
  });
  return { record, key: made.key };
}

/** The plaintext of a new key, and what is stored of it. */
export function newKey(
  { crypto }: AccountDeps,
  { name, scopes: given }: Pick<KeyInput, 'name' | 'scopes'>,
): { readonly key: string; readonly stored: GrantKey } {
  const key = crypto.apiKeys.make();
  const hash = crypto.apiKeys.hash(key);
  return { key, stored: { name, hash, last4: crypto.apiKeys.lastFour(key), scopes: given } };
}

/** Inserts a key with its event, where there is room. The caller has locked the account. */
export async function addKey(trx: Transaction, stored: NewKey, { by, idempotencyKey }: ActorNote): Promise<KeyRow> {
  const { accountId } = stored;
  await checkRoom(trx, accountId);
  const made = await insertKey(trx, stored);
  if (idempotencyKey !== undefined) await markEffective(trx, accountId, idempotencyKey);
  await appendEvent(trx, keyCreated(made, by));
  return made;
}

/** The event of a new key. Nobody is `by` where Lodge made it by itself. */
export function keyCreated({ id, accountId, name, last4, scopes, expiresAt }: KeyRow, by: By | null): NewEvent {
  const data = { name, last4, scopes, expires_at: expiresAt?.toISOString() ?? null };
  const target = { kind: 'api_key', id };
  return { type: 'api_key.created', data, accountId, agentId: null, by, target };
}

export async function checkRoom(trx: Transaction, accountId: string): Promise<void> {
  if ((await countLiveKeys(trx, accountId)) < maxLiveKeys) return;
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
function endWithin(maker: KeyRow | undefined, { expiresAt }: KeyInput): Date | null {
  if (maker === undefined || maker.revokedAt !== null)
    throw new Refusal('revoked_api_key', 'This API key was revoked.');
  const end = expiresAt === undefined ? maker.expiresAt : expiresAt;
  if (maker.expiresAt !== null && (end === null || end > maker.expiresAt)) {
    throw new Refusal(
      'invalid_request',
      `expires_at must not be after ${maker.expiresAt.toISOString()}, when the key that makes it expires.`,
    );
  }
  return end;
}

/** Revokes a key and those that it made. Revoking it again changes nothing. */
export async function revokeKey({ database }: AccountDeps, accountId: string, id: string, by: By): Promise<KeyRow> {
  const revoked =
    isId(id) &&
    (await database.transaction(async (trx) => {
      await lockAccount(trx, accountId);
      const ended = await revokeKeys(trx, accountId, id);
      const made = ended.filter((each) => each !== id).toSorted();
      const data = made.length > 0 ? { with: made } : {};
      const event = { type: 'api_key.revoked', data, accountId, agentId: null, by } as const;
      const row = await findKey(trx, accountId, id);
      if (ended.includes(id)) await appendEvent(trx, { ...event, target: { kind: 'api_key', id } });
      return row;
    }));
  if (!revoked) throw new Refusal('key_not_found', 'There is no such API key.');
  return revoked;
}
