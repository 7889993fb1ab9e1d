/** Who a request comes from: an API key where it brings one, else the session whose cookie it brings. */
import { Refusal } from '@lodge/domain';
import type { Actor, ApiKeyVerifier, Principal } from '@lodge/ports';
import type { FastifyRequest } from 'fastify';
import { presentedKey, verifyKey } from './api-key.ts';
import type { Sessions } from './session.ts';

/** What principals are known by. */
export interface Identities {
  readonly verifier: ApiKeyVerifier;
  /** Null: API keys alone open anything. */
  readonly sessions: Sessions | null;
}

/** What the request wants to be known by: its key, or else the token of its session. Null when it brings neither. */
export const presentedSecret = ({ sessions }: Identities, { headers }: FastifyRequest): string | null =>
  presentedKey(headers) ?? sessions?.token(headers) ?? null;

/** Puts the principal on the request, or refuses with 401; with 403 what brings a session from another page than ours. */
export async function authenticate({ verifier, sessions }: Identities, request: FastifyRequest): Promise<void> {
  const key = presentedKey(request.headers);
  if (key !== null) {
    request.principal = await verifyKey(verifier, key);
    return;
  }
  const token = sessions?.token(request.headers) ?? null;
  if (token !== null && (await sessions!.enter(request, token))) return;
  if (token !== null || request.routeOptions.config?.sessionOnly) throw new Refusal('not_signed_in', 'Sign in first.');
  throw new Refusal('missing_api_key', 'Send your API key in the header X-API-Key, or as Authorization: Bearer.');
}

/** Who a change is written down to: a key, or the person of a session. */
export function actorOf({ accountId, by }: Principal): Actor {
  return by.kind === 'session' ? { kind: 'account', id: accountId } : { kind: 'api_key', id: by.id };
}
