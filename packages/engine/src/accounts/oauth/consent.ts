/**
 * A person's consent to a program (OAuth 2.1, authorization code with PKCE).
 *
 *   registerClient -> the browser comes to /account/authorize -> authorizationQuestion -> decideAuthorization -> a code, to the
 *   registered address -> exchangeCode (tokens.ts)
 *
 * Nothing is sent to an address that is not the client's, and nothing without the person's click. The code is bound to the
 * client, the address and the challenge.
 */
import {
  Refusal,
  grantBounds,
  grantableScopes,
  isCodeChallenge,
  redirectHost,
  redirectWith,
  scopesOfRole,
} from '@lodge/domain';
import type { Scope } from '@lodge/domain';
import { insertCode, noteUse } from '@lodge/store/accounts';
import { appendEvent } from '@lodge/store/events';
import { eventOf } from '../deps.ts';
import type { AccountDeps } from '../deps.ts';
import type { Caller, SignedIn } from '../signed-in.ts';
import { clientOf } from './clients.ts';
import { isDocumentUrl } from './kept-documents.ts';
import type { OAuthClient } from './kept-documents.ts';
import { resourceOf } from './resources.ts';
import { chosenScopes } from './scopes.ts';

/** The fields of an authorization request, as its client wrote them. */
export interface AuthorizationInput {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly responseType: string;
  readonly codeChallenge: string;
  readonly codeChallengeMethod: string;
  readonly scope: string | null;
  readonly state: string | null;
  readonly resource: string | null;
}

/** An authorization request that is in order, as the person who is asked sees it. */
export interface AuthorizationQuestion {
  readonly clientName: string;
  /** Host of the document that the client's id is the address of; null for a client that registered itself. */
  readonly clientHost: string | null;
  readonly redirectHost: string;
  /** Those of the asked scopes that the person's role has. */
  readonly grantable: readonly Scope[];
}

interface Checked {
  readonly client: OAuthClient;
  readonly grantable: readonly Scope[];
  readonly resource: string | null;
}

export async function authorizationQuestion(
  deps: AccountDeps,
  me: SignedIn,
  input: AuthorizationInput,
): Promise<AuthorizationQuestion> {
  const { client, grantable } = await check(deps, me, input);
  return {
    clientName: client.name,
    clientHost: isDocumentUrl(client.id) ? new URL(client.id).host : null,
    redirectHost: redirectHost(input.redirectUri),
    grantable,
  };
}

/** Gives the scopes, or refuses (null). Returns the address that the browser goes to with the answer. */
export async function decideAuthorization(
  deps: AccountDeps,
  me: SignedIn,
  input: AuthorizationInput,
  chosen: readonly Scope[] | null,
  caller: Caller,
): Promise<string> {
  const { client, grantable, resource } = await check(deps, me, input);
  const { redirectUri, codeChallenge: challenge, state } = input;
  const accountId = me.account.id;
  const program = { name: client.name, host: redirectHost(redirectUri) };
  const answer = { state: state ?? undefined, iss: deps.origin() };
  if (chosen === null) {
    const event = eventOf(accountId, caller, { type: 'oauth.denied', data: program });
    await deps.database.transaction((trx) => appendEvent(trx, event));
    return redirectWith(redirectUri, { error: 'access_denied', ...answer });
  }
  const scopes = chosenScopes(chosen, grantable);
  const code = deps.crypto.tokens.make();
  const { id: clientId, name: clientName } = client;
  const hash = deps.crypto.tokens.hash(code);
  await deps.database.transaction(async (trx) => {
    await insertCode(trx, { hash, accountId, clientId, clientName, redirectUri, challenge, scopes, resource });
    await noteUse(trx, clientId);
    await appendEvent(trx, eventOf(accountId, caller, { type: 'oauth.approved', data: { ...program, scopes } }));
  });
  return redirectWith(redirectUri, { code, ...answer });
}

/** Checks the client and its address first: of a wrong request only the person is told, and no program. */
async function check(deps: AccountDeps, { account }: SignedIn, input: AuthorizationInput): Promise<Checked> {
  const client = await clientOf(deps, input);
  if (input.responseType !== 'code') throw new Refusal('invalid_request', 'response_type must be code.');
  if (input.codeChallengeMethod !== 'S256' || !isCodeChallenge(input.codeChallenge)) {
    throw new Refusal('invalid_request', 'code_challenge must be one by code_challenge_method S256.');
  }
  if ((input.state?.length ?? 0) > grantBounds.maxStateChars) {
    throw new Refusal('invalid_request', `state must have at most ${grantBounds.maxStateChars} characters.`);
  }
  const resource = resourceOf(deps, input.resource);
  const own: readonly Scope[] = scopesOfRole[account.role];
  return { client, resource, grantable: askedScopes(input.scope).filter((scope) => own.includes(scope)) };
}

/** Reads the scopes that a program asks for. Words of other services are left out, as RFC 6749 allows (section 3.3). */
function askedScopes(text: string | null): readonly Scope[] {
  const words = new Set((text ?? '').split(' ').filter((word) => word !== ''));
  if (words.size === 0) return grantableScopes;
  const asked = grantableScopes.filter((scope) => words.has(scope));
  if (asked.length > 0) return asked;
  throw new Refusal('invalid_scope', `scope must have words of ${grantableScopes.join(', ')}.`);
}
