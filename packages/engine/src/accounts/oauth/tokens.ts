/**
 * GrantTokens of a grant. Its access token is one API key, whose secret is replaced with each renewal, so that revoking the key ends
 * the grant and the audit log has one actor.
 *
 * A refresh token is two random halves. The first stays for the life of the grant, and the second changes with each use. A
 * token with the right first half and another second half was exchanged before, however long ago: somebody has a copy, so the
 * grant ends. The one before the present one is still taken for a minute, because the reply that replaced it may be lost.
 */
import { createHash } from 'node:crypto';
import { Refusal, grantBounds, isCodeVerifier, redirectHost } from '@lodge/domain';
import type { Scope } from '@lodge/domain';
import type { By } from '@lodge/ports';
import {
  accountOfCode,
  grantOf,
  grantsBeyond,
  grantsOf,
  insertGrant,
  lockAccount,
  lockCode,
  lockGrant,
  renewGrant,
  revokeKeys,
} from '@lodge/store/accounts';
import type { CodeRow, GrantRow, LockedGrant, RefreshHashes } from '@lodge/store/accounts';
import type { Transaction } from '@lodge/store/database';
import { appendEvent } from '@lodge/store/events';
import { isId } from '../deps.ts';
import type { AccountDeps } from '../deps.ts';
import { newKey } from '../keys.ts';
import type { Caller } from '../signed-in.ts';
import { resourceOf } from './resources.ts';

interface CodeInput {
  readonly code: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly codeVerifier: string;
  readonly resource: string | null;
}

interface RefreshInput {
  readonly refreshToken: string;
  readonly clientId: string;
  readonly scope: string | null;
  readonly resource: string | null;
}

/** Access and refresh token, shown only once. */
export interface GrantTokens {
  readonly access: string;
  readonly refresh: string;
  readonly expiresInSeconds: number;
  readonly scopes: readonly Scope[];
  /** The id of the grant, which is its key's. */
  readonly grantId: string;
}

const tokenChars = 43;

/** Exchanges a code. One that comes twice ends what it gave. */
export async function exchangeCode(deps: AccountDeps, input: CodeInput, caller: Caller): Promise<GrantTokens> {
  const { tokens } = deps.crypto;
  if (!tokens.isWellFormed(input.code)) throw wrongCode();
  const hash = tokens.hash(input.code);
  const found = await deps.database.repeatable((db) => accountOfCode(db, hash));
  if (found === undefined) throw wrongCode();
  const { accountId } = found;
  const fresh = newRefresh(deps);
  const made = await deps.database.transaction(async (trx) => {
    await lockAccount(trx, accountId);
    const code = await lockCode(trx, hash);
    if (code === undefined) return null;
    if (code.keyId !== null) {
      await endReused(trx, code.keyId, 'code', byOf(accountId, caller));
      return null;
    }
    if (code.isExpired || !isOfCode(deps, code, input)) return null;
    const key = newKey(deps, { name: code.clientName, scopes: code.scopes });
    const host = redirectHost(code.redirectUri);
    const grant = await insertGrant(trx, code, host, fresh.hashes, key.stored);
    const ended = (await grantsBeyond(trx, accountId, grantBounds.maxGrants)).map(({ keyId }) => keyId);
    for (const id of ended) await revokeKeys(trx, accountId, id);
    const data = { ...programOf(grant), scopes: grant.scopes, ...(ended.length > 0 && { ended }) };
    const by = byOf(accountId, caller);
    const target = targetOf(grant.keyId);
    await appendEvent(trx, { type: 'oauth.granted', data, accountId, agentId: null, by, target });
    return tokensOf(grant.keyId, key.key, fresh.token, grant.scopes);
  });
  // The end of a grant whose code came twice is committed before the refusal.
  if (made === null) throw wrongCode();
  return made;
}

/** Renews access. A refresh token that was exchanged before ends the grant. */
export async function refresh(deps: AccountDeps, input: RefreshInput, caller: Caller): Promise<GrantTokens> {
  const given = readRefresh(deps, input.refreshToken);
  const found = given && (await deps.database.repeatable((db) => grantOf(db, { family: given.family })));
  if (!given || !found || found.clientId !== input.clientId) throw wrongRefresh();
  const resource = resourceOf(deps, input.resource);
  if (resource !== null && found.resource !== null && resource !== found.resource) {
    throw new Refusal('invalid_target', `resource must be ${found.resource}, which the access is for.`);
  }
  const scopes = narrowed(found.scopes, input.scope);
  const fresh = newRefresh(deps, input.refreshToken);
  const made = await deps.database.transaction(async (trx) => {
    await lockAccount(trx, found.accountId);
    const grant = await lockGrant(trx, found.keyId);
    if (grant === undefined || grant.isOver) return null;
    const isPresent = isSame(grant.refreshHash, given.rotation);
    if (!isPresent && !isRetry(grant, given.rotation)) {
      await endReused(trx, grant.keyId, 'refresh_token', byOf(grant.accountId, caller));
      return null;
    }
    const key = newKey(deps, { name: grant.clientName, scopes });
    await renewGrant(trx, grant.keyId, fresh.hashes.rotation, key.stored, !isPresent);
    return tokensOf(grant.keyId, key.key, fresh.token, scopes);
  });
  if (made === null) throw wrongRefresh();
  return made;
}

/** Ends the grant of a token, where it is the client's. Any other token changes nothing. */
export async function revokeToken(
  deps: AccountDeps,
  { token, clientId }: { readonly token: string; readonly clientId: string },
  caller: Caller,
): Promise<void> {
  const { apiKeys } = deps.crypto;
  const refreshing = readRefresh(deps, token);
  if (refreshing === null && !apiKeys.isWellFormed(token)) return;
  const named = refreshing ?? { access: apiKeys.hash(token) };
  const grant = await deps.database.repeatable((db) => grantOf(db, named));
  if (grant?.clientId !== clientId) return;
  await endGrant(deps, grant, byOf(grant.accountId, caller));
}

/** Those in force, newest first. */
export const grants = ({ database }: AccountDeps, accountId: string): Promise<readonly GrantRow[]> =>
  database.repeatable((db) => grantsOf(db, accountId));

export async function revokeGrant(deps: AccountDeps, accountId: string, id: string, by: By): Promise<GrantRow> {
  const grant = isId(id) ? (await grants(deps, accountId)).find(({ keyId }) => keyId === id) : undefined;
  if (grant === undefined) throw new Refusal('grant_not_found', 'The account gave no such access, or it has ended.');
  await endGrant(deps, grant, by);
  return grant;
}

async function endGrant({ database }: AccountDeps, grant: GrantRow, by: By): Promise<void> {
  const { keyId: id, accountId } = grant;
  await database.transaction(async (trx) => {
    await lockAccount(trx, accountId);
    if (!(await revokeKeys(trx, accountId, id)).includes(id)) return;
    const data = programOf(grant);
    await appendEvent(trx, { type: 'oauth.revoked', data, accountId, agentId: null, by, target: targetOf(id) });
  });
}

/** Ends a grant whose code or refresh token came twice. */
async function endReused(trx: Transaction, id: string, of: 'code' | 'refresh_token', by: By): Promise<void> {
  const grant = await lockGrant(trx, id);
  if (grant === undefined || !(await revokeKeys(trx, grant.accountId, id)).includes(id)) return;
  const data = { ...programOf(grant), of };
  const { accountId } = grant;
  await appendEvent(trx, { type: 'oauth.reuse_detected', data, accountId, agentId: null, by, target: targetOf(id) });
}

/** Whether whoever brings the code is the one that it was given for. */
function isOfCode(deps: AccountDeps, code: CodeRow, input: CodeInput): boolean {
  if (code.clientId !== input.clientId || code.redirectUri !== input.redirectUri) return false;
  if (!isCodeVerifier(input.codeVerifier)) return false;
  const resource = resourceOf(deps, input.resource);
  if (resource !== null && code.resource !== null && resource !== code.resource) return false;
  return createHash('sha256').update(input.codeVerifier, 'ascii').digest('base64url') === code.challenge;
}

const isRetry = ({ isFresh, previousHash }: LockedGrant, rotation: Uint8Array): boolean =>
  isFresh && previousHash !== null && isSame(previousHash, rotation);

/** Hashes are compared: how long that takes tells nothing of a token. */
const isSame = (one: Uint8Array, other: Uint8Array): boolean => Buffer.compare(one, other) === 0;

/** Makes a refresh token, in the family of another where one is given. */
function newRefresh(
  { crypto: { tokens } }: AccountDeps,
  before?: string,
): { readonly token: string; readonly hashes: RefreshHashes } {
  const family = before?.slice(0, tokenChars) ?? tokens.make();
  const rotation = tokens.make();
  return { token: family + rotation, hashes: { family: tokens.hash(family), rotation: tokens.hash(rotation) } };
}

function readRefresh({ crypto: { tokens } }: AccountDeps, token: string): RefreshHashes | null {
  const [family, rotation] = [token.slice(0, tokenChars), token.slice(tokenChars)];
  if (!tokens.isWellFormed(family) || !tokens.isWellFormed(rotation)) return null;
  return { family: tokens.hash(family), rotation: tokens.hash(rotation) };
}

/** The scopes of renewed access: the grant's, or fewer where the client asks for fewer. */
function narrowed(granted: readonly Scope[], text: string | null): readonly Scope[] {
  const words = new Set((text ?? '').split(' ').filter((word) => word !== ''));
  if (words.size === 0) return granted;
  const scopes = granted.filter((scope) => words.has(scope));
  if (scopes.length === words.size) return scopes;
  throw new Refusal('invalid_scope', `scope must be among what was granted: ${granted.join(', ')}.`);
}

const tokensOf = (grantId: string, access: string, token: string, scopes: readonly Scope[]): GrantTokens => ({
  access,
  refresh: token,
  expiresInSeconds: grantBounds.accessSeconds,
  scopes,
  grantId,
});

const programOf = ({ clientName: name, redirectHost: host }: GrantRow) => ({ name, host });
const targetOf = (id: string) => ({ kind: 'grant', id });
const byOf = (accountId: string, { address, requestId }: Caller): By => ({
  actor: { kind: 'account', id: accountId },
  address,
  requestId,
});

const wrongCode = (): Refusal =>
  new Refusal('invalid_grant', 'This code is none, was used, has expired, or was given to another request.');
const wrongRefresh = (): Refusal =>
  new Refusal('invalid_grant', 'This refresh token is none, was exchanged, or its access has ended.');
