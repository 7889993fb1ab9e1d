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
import type {
  AccountTransaction,
  By,
  Caller,
  CodeRow,
  GrantRow,
  LockedGrant,
  OAuth,
  RefreshHashes,
  GrantTokens,
} from '@lodge/ports';
import { isId } from '../deps.ts';
import type { AccountDeps } from '../deps.ts';
import { newKey } from '../keys.ts';
import { resourceOf } from './resources.ts';

type CodeInput = Parameters<OAuth['exchangeCode']>[0];
type RefreshInput = Parameters<OAuth['refresh']>[0];

const tokenChars = 43;

export async function exchangeCode(deps: AccountDeps, input: CodeInput, caller: Caller): Promise<GrantTokens> {
  const { crypto, store } = deps;
  const hash = crypto.tokens.isWellFormed(input.code) ? crypto.tokens.hash(input.code) : null;
  const accountId = hash && (await store.oauth.accountOfCode(hash));
  if (hash === null || accountId === null) throw wrongCode();
  const fresh = newRefresh(deps);
  const made = await store.transaction(async (tx) => {
    await tx.lock(accountId);
    const code = await tx.oauth.lockCode(hash);
    if (code === null) return null;
    if (code.grantId !== null) {
      await endReused(tx, code.grantId, 'code', byOf(code.accountId, caller));
      return null;
    }
    if (code.isExpired || !isOfCode(deps, code, input)) return null;
    const key = newKey(deps, { name: code.clientName, scopes: code.scopes });
    const host = redirectHost(code.redirectUri);
    const grant = await tx.oauth.createGrant(code, host, fresh.hashes, key.stored);
    const ended = await tx.oauth.grantsBeyond(accountId, grantBounds.maxGrants);
    for (const id of ended) await tx.revokeKey(accountId, id);
    const data = { ...programOf(grant), scopes: grant.scopes, ...(ended.length > 0 && { ended }) };
    const by = byOf(accountId, caller);
    await tx.record({ type: 'oauth.granted', data, accountId, agentId: null, by, target: targetOf(grant.id) });
    return tokensOf(grant.id, key.key, fresh.token, grant.scopes);
  });
  // The end of a grant whose code came twice is committed before the refusal.
  if (made === null) throw wrongCode();
  return made;
}

export async function refresh(deps: AccountDeps, input: RefreshInput, caller: Caller): Promise<GrantTokens> {
  const { store } = deps;
  const given = readRefresh(deps, input.refreshToken);
  const found = given && (await store.oauth.grantOf({ family: given.family }));
  if (given === null || found === null || found.clientId !== input.clientId) throw wrongRefresh();
  const resource = resourceOf(deps, input.resource);
  if (resource !== null && found.resource !== null && resource !== found.resource) {
    throw new Refusal('invalid_target', `resource must be ${found.resource}, which the access is for.`);
  }
  const scopes = narrowed(found.scopes, input.scope);
  const fresh = newRefresh(deps, input.refreshToken);
  const made = await store.transaction(async (tx) => {
    await tx.lock(found.accountId);
    const grant = await tx.oauth.lockGrant(found.id);
    if (grant === null || grant.isOver) return null;
    const isPresent = isSame(grant.rotation, given.rotation);
    if (!isPresent && !isRetry(grant, given.rotation)) {
      await endReused(tx, grant.id, 'refresh_token', byOf(grant.accountId, caller));
      return null;
    }
    const key = newKey(deps, { name: grant.clientName, scopes });
    await tx.oauth.renewGrant(grant.id, fresh.hashes.rotation, key.stored, !isPresent);
    return tokensOf(grant.id, key.key, fresh.token, scopes);
  });
  if (made === null) throw wrongRefresh();
  return made;
}

export async function revokeToken(
  deps: AccountDeps,
  { token, clientId }: { readonly token: string; readonly clientId: string },
  caller: Caller,
): Promise<void> {
  const { crypto, store } = deps;
  const refreshing = readRefresh(deps, token);
  const grant = refreshing
    ? await store.oauth.grantOf({ family: refreshing.family })
    : crypto.apiKeys.isWellFormed(token)
      ? await store.oauth.grantOf({ access: crypto.apiKeys.hash(token) })
      : null;
  if (grant === null || grant.clientId !== clientId) return;
  await endGrant(deps, grant, byOf(grant.accountId, caller));
}

export async function revokeGrant(deps: AccountDeps, accountId: string, id: string, by: By): Promise<GrantRow> {
  const grants = isId(id) ? await deps.store.oauth.grants(accountId) : [];
  const grant = grants.find((one) => one.id === id);
  if (grant === undefined) throw new Refusal('grant_not_found', 'The account gave no such access, or it has ended.');
  await endGrant(deps, grant, by);
  return grant;
}

async function endGrant({ store }: AccountDeps, grant: GrantRow, by: By): Promise<void> {
  const { id, accountId } = grant;
  await store.transaction(async (tx) => {
    await tx.lock(accountId);
    if (!(await tx.revokeKey(accountId, id)).wasLive) return;
    const data = programOf(grant);
    await tx.record({ type: 'oauth.revoked', data, accountId, agentId: null, by, target: targetOf(id) });
  });
}

/** Ends a grant whose code or refresh token came twice. */
async function endReused(tx: AccountTransaction, id: string, of: 'code' | 'refresh_token', by: By): Promise<void> {
  const grant = await tx.oauth.lockGrant(id);
  if (grant === null || !(await tx.revokeKey(grant.accountId, id)).wasLive) return;
  const data = { ...programOf(grant), of };
  const { accountId } = grant;
  await tx.record({ type: 'oauth.reuse_detected', data, accountId, agentId: null, by, target: targetOf(id) });
}

/** Whether whoever brings the code is the one that it was given for. */
function isOfCode(deps: AccountDeps, code: CodeRow, input: CodeInput): boolean {
  if (code.clientId !== input.clientId || code.redirectUri !== input.redirectUri) return false;
  if (!isCodeVerifier(input.codeVerifier)) return false;
  const resource = resourceOf(deps, input.resource);
  if (resource !== null && code.resource !== null && resource !== code.resource) return false;
  return createHash('sha256').update(input.codeVerifier, 'ascii').digest('base64url') === code.challenge;
}

const isRetry = ({ isFresh, previousRotation }: LockedGrant, rotation: Uint8Array): boolean =>
  isFresh && previousRotation !== null && isSame(previousRotation, rotation);

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
