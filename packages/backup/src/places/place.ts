/** Where backups lie: a folder or a bucket. What is written there is sealed, and what comes back is trusted by nobody. */
export interface Place {
  /** For messages and for the note of the last backup: `/backup/lodge`, `s3://bucket/prefix`. */
  readonly name: string;
  /** A path in words that an operator finds it by. */
  where(path: string): string;
  /** Makes what must be there before the first write under `folder`. Rejects where the place cannot be used. */
  prepare(folder: string): Promise<void>;
  /** Names of the folders at the top. */
  folders(): Promise<string[]>;
  /** Files in that folder and in the folders in it, by their paths relative to it. */
  list(folder: string): AsyncIterable<PlaceEntry>;
  has(path: string): Promise<boolean>;
  /** Null where there is no such file. Rejects with `BackupError` past `maxBytes`, before it reads on. */
  read(path: string, maxBytes: number): Promise<Buffer | null>;
  /** Whole or not at all, whatever ends in between. `durable`: it outlives a power cut once this resolves. */
  write(path: string, bytes: Buffer, options: { readonly durable: boolean }): Promise<void>;
  remove(path: string): Promise<void>;
  /** All that was written outlives a power cut. */
  flush(): Promise<void>;
  /** One process of this host at a time. The kernel gives the lock back with the process. Resolves with what gives it back. */
  lock(): Promise<() => void>;
}

export interface PlaceEntry {
  readonly path: string;
  /** Bytes, where the list tells. */
  readonly bytes: number | null;
  /** Written so lately that a list of who needs it may not be shown yet. */
  readonly isFresh: boolean;
}
