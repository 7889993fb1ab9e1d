import { Refusal } from '@lodge/domain';
import type { IncomingHttpHeaders } from 'node:http';
import type { ApiKeyVerifier, KeyRefusal, Principal } from '@lodge/ports';

/** Longer than any key of Lodge's: a longer text is not hashed at all. */
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

/** Refuses with 401. */
export async function verifyKey(verifier: ApiKeyVerifier, key: string): Promise<Principal> {
  const found = key.length > longestKey ? 'invalid_api_key' : await verifier.verify(key);
  if (typeof found === 'string') throw new Refusal(found, refusals[found]);
  return found;
}
