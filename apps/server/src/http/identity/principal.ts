/** The caller of a request: an API key if it has one, else the session of its cookie. */
import { Refusal } from '@lodge/domain';
import type { Actor, ApiKeyVerifier, Principal } from '@lodge/ports';
import type { FastifyRequest } from 'fastify';
import { presentedKey, verifyKey } from './api-key.ts';
import type { Sessions } from './session.ts';

/** The means to identify principals. */
export interface Identities {
  readonly verifier: ApiKeyVerifier;
  readonly sessions: Sessions;
}

/** The secret that identifies the request: its key, or else the token of its session. Null if it has neither. */
export const presentedSecret = ({ sessions }: Identities, { headers }: FastifyRequest): string | null =>
  presentedKey(headers) ?? sessions.token(headers);

/**
 * Puts the principal on the request, or refuses with 401; with 403 if a session's request comes from another page than
 * Lodge's.
 */
export async function authenticate({ verifier, sessions }: Identities, request: FastifyRequest): Promise<void> {
  const key = presentedKey(request.headers);
  if (key !== null) {
    request.principal = await verifyKey(verifier, key);
    return;
  }
  const { passesOn, sessionOnly } = request.routeOptions.config ?? {};
  const token = passesOn ? null : sessions.token(request.headers);
  if (token !== null && (await sessions.enter(request, token))) return;
  if (token !== null || sessionOnly) throw new Refusal('not_signed_in', 'Sign in first.');
  throw new Refusal('missing_api_key', 'Send your API key in the header X-API-Key, or as Authorization: Bearer.');
}

/** The actor that a change is recorded with: a key, or the person of a session. */
export function actorOf({ accountId, by }: Principal): Actor {
  return by.kind === 'session' ? { kind: 'account', id: accountId } : { kind: 'api_key', id: by.id };
}
