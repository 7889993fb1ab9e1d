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
import type { AuthorizationInput, AuthorizationQuestion, Caller, OAuthClient, SignedIn } from '@lodge/ports';
import { eventOf } from '../deps.ts';
import type { AccountDeps } from '../deps.ts';
import { clientOf } from './clients.ts';
import { isDocumentUrl } from './kept-documents.ts';
import { resourceOf } from './resources.ts';
import { chosenScopes } from './scopes.ts';

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
    await deps.store.note(eventOf(accountId, caller, { type: 'oauth.denied', data: program }));
    return redirectWith(redirectUri, { error: 'access_denied', ...answer });
  }
  const scopes = chosenScopes(chosen, grantable);
  const code = deps.crypto.tokens.make();
  const { id: clientId, name: clientName } = client;
  const hash = deps.crypto.tokens.hash(code);
  await deps.store.transaction(async (tx) => {
    await tx.oauth.insertCode({ hash, accountId, clientId, clientName, redirectUri, challenge, scopes, resource });
    await tx.record(eventOf(accountId, caller, { type: 'oauth.approved', data: { ...program, scopes } }));
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
