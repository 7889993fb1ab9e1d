/**
 * Thrown when no connection of the store's database is free, and its queue is full or too slow. Nothing was sent to the
 * database.
 */
export class DatabaseBusyError extends Error {
  constructor(options?: ErrorOptions) {
    super('no database connection came free in time', options);
    this.name = 'DatabaseBusyError';
  }
}

/** Sizes on the database's disk, in bytes. */
export interface StoredSizes {
  /** The whole database, indexes included. */
  readonly database: number;
  /** Replies of requests with an Idempotency-Key. */
  readonly replies: number;
  /** Contents of model calls, where accounts record them. */
  readonly contents: number;
}

/** Thrown for a cursor that this store did not make. */
export class InvalidCursorError extends Error {
  constructor() {
    super('cursor is not one this service gave');
    this.name = 'InvalidCursorError';
  }
}
