import type { IncomingHttpHeaders } from 'node:http';
import type { ApiKeyVerifier, KeyRefusal, Principal, Scope } from '@lodge/engine/ports';
import type { FastifyRequest } from 'fastify';
import { ApiError } from './errors.ts';

/** Longer than any key of ours: what exceeds it is not hashed at all. */
const longestKey = 256;

const refusals: Readonly<Record<KeyRefusal, string>> = {
  invalid_api_key: 'This API key is not valid.',
  revoked_api_key: 'This API key was revoked.',
  expired_api_key: 'This API key has expired.',
};

/** The key of a request: X-API-Key, or else a bearer token. Null when neither was sent. */
export function presentedKey(headers: IncomingHttpHeaders): string | null {
  const own = headers['x-api-key'];
  if (own) return String(own);
  return /^bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1] ?? null;
}

/** Puts the principal on the request, or refuses with 401. */
export async function authenticate(verifier: ApiKeyVerifier, request: FastifyRequest): Promise<void> {
  const key = presentedKey(request.headers);
  if (key === null) {
    throw new ApiError('missing_api_key', 'Send your API key in the header X-API-Key, or as Authorization: Bearer.');
  }
  request.principal = await verifyKey(verifier, key);
}

/** Refuses with 401. */
export async function verifyKey(verifier: ApiKeyVerifier, key: string): Promise<Principal> {
  const found = key.length > longestKey ? 'invalid_api_key' : await verifier.verify(key);
  if (typeof found === 'string') throw new ApiError(found, refusals[found]);
  return found;
}

/** Refuses with 403 when the key has none of the scopes that the route takes. */
export function checkScope(request: FastifyRequest): void {
  const { scopes, wakeScope } = request.routeOptions.config;
  const has = (scope: Scope): boolean => request.principal.scopes.includes(scope);
  if (scopes && !scopes.some(has)) {
    throw new ApiError('insufficient_scope', `This API key lacks the scope ${scopes.join(' or ')}.`);
  }
  if (wakeScope && !has(wakeScope) && (request.query as { readonly wake?: unknown }).wake === 'true') {
    throw new ApiError('insufficient_scope', `This API key lacks the scope ${wakeScope}, which wake takes.`);
  }
}
