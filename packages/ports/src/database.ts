/** The store's database has no connection free and its queue is full or too slow. Nothing was sent to it. */
export class DatabaseBusyError extends Error {
  constructor(options?: ErrorOptions) {
    super('no database connection came free in time', options);
    this.name = 'DatabaseBusyError';
  }
}

/** What takes up the database's disk, in bytes. */
export interface StoredSizes {
  /** All of it, indexes too. */
  readonly database: number;
  /** Replies of requests with an Idempotency-Key. */
  readonly replies: number;
  /** What was said in model calls, where accounts record them. */
  readonly contents: number;
}
