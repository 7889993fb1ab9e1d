import type { ApiKeyRow, ApiKeyStore, ApiKeyVerifier, KeyRefusal, Log, Principal } from '@lodge/engine/ports';
import { hashApiKey, isWellFormedApiKey } from './api-key.ts';
import { KeyUses } from './key-uses.ts';

export interface ApiKeyVerifierDeps {
  readonly store: ApiKeyStore;
  readonly log: Log;
  /** Default: the system's clock. */
  readonly clock?: () => Date;
}

/** A verifier that also writes last-used times; `close` writes the last of them. */
export interface ClosableApiKeyVerifier extends ApiKeyVerifier {
  close(): Promise<void>;
}

interface Looked {
  readonly at: number;
  readonly row: Promise<ApiKeyRow | null>;
}

const cacheMs = 1000;
/** Look-ups remembered of keys that exist, and as many again of keys that do not: guesses cannot push out real keys. */
const mostCached = 10_000;

/**
 * Checks presented keys against the store. Keys are compared by their SHA-256 alone, as a map's or an index's key, so
 * timing tells nothing about a key. What the store said is remembered for a second, counted from before it was asked.
 */
export function createApiKeyVerifier(deps: ApiKeyVerifierDeps): ClosableApiKeyVerifier {
  const { store, clock = () => new Date() } = deps;
  const uses = new KeyUses(store, deps.log);
  const known = new Map<string, Looked>();
  const unknown = new Map<string, Looked>();

  async function lookUp(hash: Buffer, now: number): Promise<ApiKeyRow | null> {
    const id = hash.toString('base64');
    const cached = fresh(known, id, now) ?? fresh(unknown, id, now);
    if (cached) return cached.row;
    // Remembered while still under way: requests that come together ask the store once.
    const looked: Looked = { at: now, row: store.findByHash(hash) };
    remember(unknown, id, looked);
    try {
      const row = await looked.row;
      if (row) {
        if (unknown.get(id) === looked) unknown.delete(id);
        remember(known, id, looked);
      }
      return row;
    } catch (error) {
      if (unknown.get(id) === looked) unknown.delete(id);
      throw error;
    }
  }

  return {
    async verify(presented): Promise<Principal | KeyRefusal> {
      if (!isWellFormedApiKey(presented)) return 'invalid_api_key';
      const asked = clock();
      const row = await lookUp(hashApiKey(presented), asked.getTime());
      const refusal = refusalOf(row, asked);
      if (refusal) return refusal;
      uses.note(row!.id, asked);
      return { accountId: row!.accountId, keyId: row!.id, scopes: row!.scopes };
    },
    close: () => uses.flush(),
  };
}

function refusalOf(row: ApiKeyRow | null, now: Date): KeyRefusal | null {
  if (!row) return 'invalid_api_key';
  if (row.revokedAt) return 'revoked_api_key';
  if (row.expiresAt && row.expiresAt <= now) return 'expired_api_key';
  return null;
}

function fresh(cache: Map<string, Looked>, id: string, now: number): Looked | undefined {
  const looked = cache.get(id);
  if (!looked) return undefined;
  const age = now - looked.at;
  // A negative age: the clock was set back, and the entry could live on for long.
  if (age >= 0 && age < cacheMs) return looked;
  cache.delete(id);
  return undefined;
}

function remember(cache: Map<string, Looked>, id: string, looked: Looked): void {
  cache.delete(id);
  cache.set(id, looked);
  if (cache.size > mostCached) cache.delete(cache.keys().next().value!);
}
