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
  /** Reports revoked keys, so that the cache forgets them at once and not only when its second is over. */
  readonly changes?: ApiKeyChanges;
  readonly log: Log;
  /** Default: the system's clock. */
  readonly clock?: () => Date;
}

/** A verifier that also writes last-used times; `close` writes the remaining ones. */
export interface ClosableApiKeyVerifier extends ApiKeyVerifier {
  close(): Promise<void>;
}

interface Looked {
  readonly at: number;
  /** Set once the key is known. */
  readonly keyId?: string;
  readonly key: Promise<KnownKey | null>;
}

/** A key's row and the principal of every request with the key, made once for all of them. */
interface KnownKey {
  readonly row: ApiKeyRow;
  readonly principal: Principal;
}

const cacheMs = 1000;
/** Cached look-ups of existing keys, and as many again of unknown keys: guesses cannot push real keys out. */
const maxCached = 10_000;

/**
 * Checks presented keys against the store. Keys are compared by their SHA-256 alone, as a map's or an index's key, so timing
 * reveals nothing about a key. A look-up is cached for one second, counted from before the store was asked. This bounds how
 * long a revoked key works, also when its notification was lost.
 */
export function createApiKeyVerifier(deps: ApiKeyVerifierDeps): ClosableApiKeyVerifier {
  const { store, clock = () => new Date() } = deps;
  const uses = new PendingTimes('last use of API keys', (times) => store.recordUse(times), deps.log);
  const known = new Map<string, Looked>();
  const unknown = new Map<string, Looked>();

  const stopListening = deps.changes?.onChange((keyId) => {
    // A look-up in progress may have read the row before the change, so its result must not be cached.
    unknown.clear();
    if (keyId === null) known.clear();
    else for (const [id, looked] of known) if (looked.keyId === keyId) known.delete(id);
  });

  async function lookUp(hash: Uint8Array, now: number): Promise<KnownKey | null> {
    const id = Buffer.from(hash).toString('base64');
    const cached = fresh(known, id, now) ?? fresh(unknown, id, now);
    if (cached) return cached.key;
    // The promise is cached at once, so that requests that come together ask the store once.
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
  // A negative age means that the clock was set back, and the entry could live on for long.
  if (age >= 0 && age < cacheMs) return looked;
  cache.delete(id);
  return undefined;
}

function remember(cache: Map<string, Looked>, id: string, looked: Looked): void {
  cache.delete(id);
  cache.set(id, looked);
  if (cache.size > maxCached) cache.delete(cache.keys().next().value!);
}
