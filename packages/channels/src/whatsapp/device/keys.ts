/**
 * Credentials and Signal keys of one linked device in the vault, by type and id. One owner for the life of a connection, over all
 * its sockets; the lease fences it. Writes go one after another. Credentials that changed go with the next write of keys, in one
 * transaction, or alone soon after.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { InboundMessage, Vault } from '@lodge/ports';
import { newCredentials, pack, unpack } from './library.ts';
import type { Credentials, SignalKeys, SignalValues } from './library.ts';

export type Row = Parameters<Vault['set']>[0][number];

export interface Staged {
  messages: readonly InboundMessage[];
  rows: readonly Row[];
  isCommitted: boolean;
}

const credentialsRow = { type: 'creds', id: 'self' };
/** Bound on texts in memory, in UTF-16 units. */
const maxCachedChars = 128 * 1024;
/** One pre-key is read once, and application state hardly ever. */
const cachedTypes: ReadonlySet<string> = new Set([
  'session',
  'sender-key',
  'sender-key-memory',
  'identity-key',
  'lid-mapping',
  'device-list',
  'tctoken',
]);

export class DeviceKeys {
  credentials: Credentials = newCredentials();
  /** Data to commit with the keys that a work changes, in the work's own asynchronous context. */
  readonly staged = new AsyncLocalStorage<Staged>();
  private readonly vault: Vault;
  private readonly onFailure: (error: unknown) => void;
  private readonly cache = new Map<string, string>();
  private cachedChars = 0;
  private writing: Promise<unknown> = Promise.resolve();
  private last: Promise<unknown> = Promise.resolve();
  private isDirty = false;
  private isClosed = false;

  /** `onFailure` receives each failed write: memory and store may differ from then on. */
  constructor(vault: Vault, onFailure: (error: unknown) => void) {
    this.vault = vault;
    this.onFailure = onFailure;
  }

  /** Takes the credentials that were kept. False: there are none, and the device has to be paired. */
  async load(): Promise<boolean> {
    const { [credentialsRow.id]: text } = await this.vault.get(credentialsRow.type, [credentialsRow.id]);
    if (text === undefined) return false;
    this.credentials = unpack(null, text) as Credentials;
    return true;
  }

  /** Whether a phone vouched for this device. A number that only asked for a code is no pairing. */
  get isPaired(): boolean {
    return this.credentials.account !== undefined && this.credentials.me !== undefined;
  }

  /** Nobody else's, and the same for as long as this device is paired. */
  get secret(): Uint8Array {
    return this.credentials.signedIdentityKey.private;
  }

  /** Another device: for another try to pair. */
  begin(): void {
    this.credentials = newCredentials();
    this.isDirty = false;
  }

  /** Nothing is kept of this device. */
  async clear(): Promise<void> {
    await this.writing.catch(() => undefined);
    this.forgetCached();
    this.begin();
    await this.vault.clear();
  }

  credentialsChanged(): void {
    this.isDirty = true;
    setImmediate(() => void this.flush().catch(() => undefined));
  }

  /** Resolves when all that changed is kept. Rejects when it is not. */
  async flush(): Promise<void> {
    if (this.isDirty && this.isPaired) await this.write([]);
    else await this.writing;
  }

  forgetCached(): void {
    this.cache.clear();
    this.cachedChars = 0;
  }

  /** Nothing is written any more. */
  close(): void {
    this.isClosed = true;
  }

  async row(type: string, id: string): Promise<string | null> {
    return (await this.vault.get(type, [id]))[id] ?? null;
  }

  /** Runs a work on sessions after all that was asked for before, of whichever socket. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    const result = this.last.then(work);
    this.last = result.catch(() => undefined);
    return result;
  }

  /** For the library. */
  get signalKeys(): SignalKeys {
    return {
      get: async (type, ids) => (await this.read(type, ids)) as never,
      set: (data) => this.set(data),
    };
  }

  async write(rows: readonly Row[], messages?: readonly InboundMessage[]): Promise<void> {
    const write = this.writing.catch(() => undefined).then(() => this.commit(rows, messages));
    this.writing = write;
    write.catch(() => undefined);
    await write;
  }

  private async read(type: Parameters<typeof unpack>[0] & string, ids: string[]): Promise<Record<string, unknown>> {
    const missing = ids.filter((id) => !this.cache.has(`${type} ${id}`));
    const found: Record<string, string> = missing.length > 0 ? { ...(await this.vault.get(type, missing)) } : {};
    const values: Record<string, unknown> = {};
    for (const id of ids) {
      const text = found[id] ?? this.cache.get(`${type} ${id}`);
      if (text === undefined) continue;
      this.remember(type, id, text);
      values[id] = unpack(type, text);
    }
    return values;
  }

  private async set(data: SignalValues): Promise<void> {
    const rows: Row[] = [];
    for (const [type, values] of Object.entries(data)) {
      for (const [id, value] of Object.entries(values ?? {})) {
        rows.push({ type, id, value: value === null || value === undefined ? null : pack(value) });
      }
    }
    const staged = this.staged.getStore();
    await this.write([...rows, ...(staged?.rows ?? [])], staged?.messages);
    if (staged) staged.isCommitted = true;
  }

  private async commit(rows: readonly Row[], messages: readonly InboundMessage[] | undefined): Promise<void> {
    const withCredentials = this.isDirty && this.isPaired;
    const all = withCredentials ? [...rows, { ...credentialsRow, value: pack(this.credentials) }] : rows;
    if (withCredentials) this.isDirty = false;
    try {
      if (this.isClosed) throw new Error('the connection is closed');
      if (messages && messages.length > 0) await this.vault.set(all, messages);
      else if (all.length > 0) await this.vault.set(all);
    } catch (error) {
      this.isDirty ||= withCredentials;
      this.forgetCached();
      this.onFailure(error);
      throw error;
    }
    for (const { type, id, value } of rows) {
      if (value === null) this.forget(type, id);
      else this.remember(type, id, value);
    }
  }

  private remember(type: string, id: string, text: string): void {
    this.forget(type, id);
    if (!cachedTypes.has(type) || text.length > maxCachedChars / 4) return;
    this.cache.set(`${type} ${id}`, text);
    this.cachedChars += text.length;
    for (const [key, { length }] of this.cache) {
      if (this.cachedChars <= maxCachedChars) break;
      this.cache.delete(key);
      this.cachedChars -= length;
    }
  }

  private forget(type: string, id: string): void {
    const key = `${type} ${id}`;
    this.cachedChars -= this.cache.get(key)?.length ?? 0;
    this.cache.delete(key);
  }
}
