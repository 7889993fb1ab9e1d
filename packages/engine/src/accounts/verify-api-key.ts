import type { ApiKeys, ApiKeyVerifier, KeyRefusal, Log, Principal } from '@lodge/ports';
import { keyByHash, recordKeyUse } from '@lodge/store/accounts';
import type { KeyRow } from '@lodge/store/accounts';
import type { Database } from '@lodge/store/database';
import { PendingTimes } from './pending-times.ts';

type CheckedKey = Pick<KeyRow, 'id' | 'accountId' | 'scopes' | 'expiresAt' | 'revokedAt'>;

/** Keys as a verifier asks for them. */
export interface KnownKeys {
  find(hash: Uint8Array): Promise<CheckedKey | undefined>;
  /** Writes when keys were last used, by id. */
  recordUse(uses: ReadonlyMap<string, Date>): Promise<void>;
}

export const storedKeys = (database: Database): KnownKeys => ({
  find: (hash) => database.repeatable((db) => keyByHash(db, hash)),
  recordUse: (uses) => database.repeatable((db) => recordKeyUse(db, uses)),
});

export interface ApiKeyVerifierDeps {
  readonly keys: KnownKeys;
  readonly apiKeys: ApiKeys;
  /**
   * Calls back with a key's id whenever any process revoked it, so that the cache forgets it at once and not only when its second
   * is over. Null means that any key may have changed. Returns the unsubscribe function.
   */
  readonly onChange?: (listener: (keyId: string | null) => void) => () => void;
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
  readonly row: CheckedKey;
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
  const { keys, clock = () => new Date() } = deps;
  const uses = new PendingTimes('last use of API keys', (times) => keys.recordUse(times), deps.log);
  const known = new Map<string, Looked>();
  const unknown = new Map<string, Looked>();

  const stopListening = deps.onChange?.((keyId) => {
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
    const looked: Looked = { at: now, key: keys.find(hash).then(knownKey) };
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

function knownKey(row: CheckedKey | undefined): KnownKey | null {
  if (row === undefined) return null;
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
