import type {
  ApiKeyChanges,
  ApiKeys,
  ApiKeyRow,
  ApiKeyStore,
  ApiKeyVerifier,
  KeyRefusal,
  Log,
  Principal,
} from '@lodge/ports';
import { PendingTimes } from './pending-times.ts';

export interface ApiKeyVerifierDeps {
  readonly store: Pick<ApiKeyStore, 'findByHash' | 'recordUse'>;
  readonly apiKeys: ApiKeys;
  /** Tells of keys that were revoked: what is remembered of them is forgotten then, and not only when its second is over. */
  readonly changes?: ApiKeyChanges;
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
  /** Once it is known. */
  readonly keyId?: string;
  readonly key: Promise<KnownKey | null>;
}

/** A key's row, and the principal that every request with it has: made once for all of them. */
interface KnownKey {
  readonly row: ApiKeyRow;
  readonly principal: Principal;
}

const cacheMs = 1000;
/** Look-ups remembered of keys that exist, and as many again of keys that do not: guesses cannot push out real keys. */
const maxCached = 10_000;

/**
 * Checks presented keys against the store. Keys are compared by their SHA-256 alone, as a map's or an index's key, so
 * timing tells nothing about a key. What the store said is remembered for a second, counted from before it was asked: that
 * bounds how long a revoked key works, also where the notification of it was lost.
 */
export function createApiKeyVerifier(deps: ApiKeyVerifierDeps): ClosableApiKeyVerifier {
  const { store, clock = () => new Date() } = deps;
  const uses = new PendingTimes('last use of API keys', (times) => store.recordUse(times), deps.log);
  const known = new Map<string, Looked>();
  const unknown = new Map<string, Looked>();

  const stopListening = deps.changes?.onChange((keyId) => {
    // A look-up under way may have read the row before it changed: it is not to be remembered.
    unknown.clear();
    if (keyId === null) known.clear();
    else for (const [id, looked] of known) if (looked.keyId === keyId) known.delete(id);
  });

  async function lookUp(hash: Uint8Array, now: number): Promise<KnownKey | null> {
    const id = Buffer.from(hash).toString('base64');
    const cached = fresh(known, id, now) ?? fresh(unknown, id, now);
    if (cached) return cached.key;
    // Remembered while still under way: requests that come together ask the store once.
    const looked: Looked = { at: now, key: store.findByHash(hash).then(knownKey) };
    remember(unknown, id, looked);
    try {
      const key = await looked.key;
      if (key && unknown.get(id) === looked) {
        unknown.delete(id);
        remember(known, id, { ...looked, keyId: key.row.id });
      }
      return key;
    } catch (error) {
      if (unknown.get(id) === looked) unknown.delete(id);
      throw error;
    }
  }

  return {
    async verify(presented): Promise<Principal | KeyRefusal> {
      if (!deps.apiKeys.isWellFormed(presented)) return 'invalid_api_key';
      const asked = clock();
      const key = await lookUp(deps.apiKeys.hash(presented), asked.getTime());
      const refusal = refusalOf(key, asked);
      if (refusal) return refusal;
      uses.note(key!.row.id, asked);
      return key!.principal;
    },
    close() {
      stopListening?.();
      return uses.flush();
    },
  };
}

function knownKey(row: ApiKeyRow | null): KnownKey | null {
  if (row === null) return null;
  const { accountId, scopes, id } = row;
  return { row, principal: { accountId, scopes, by: { kind: 'api_key', id } } };
}

function refusalOf(key: KnownKey | null, now: Date): KeyRefusal | null {
  if (key === null) return 'invalid_api_key';
  const { row } = key;
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
  if (cache.size > maxCached) cache.delete(cache.keys().next().value!);
}
