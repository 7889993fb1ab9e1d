/** The store's database has no connection free and its queue is full or too slow. Nothing was sent to it. */
export class DatabaseBusyError extends Error {
  constructor(options?: ErrorOptions) {
    super('no database connection came free in time', options);
    this.name = 'DatabaseBusyError';
  }
}
