/**
 * The database as the engine uses it: it holds the transactions, and the store's functions are the statements within them. Tables
 * and columns have their names in camel case.
 */
import type { Kysely, Transaction as KyselyTransaction } from 'kysely';
import type { InJson, Statement } from './statement.ts';
import type { DB } from './tables.ts';

/** Statements run on it, each by itself or within a transaction. */
export type Queries = Kysely<DB>;
export type Transaction = KyselyTransaction<DB>;

export interface Database {
  /** Tells this process's leases from those of a killed process on the same host, whose last write may still come. */
  readonly session: string;
  /** Runs one frequent read without writing and planning it anew. It is repeated as by `repeatable`. */
  read<Row extends object>(statement: Statement<Row>, values: readonly unknown[]): Promise<InJson<Row>[]>;
  /**
   * Runs work that may run twice: reads, and writes that change nothing when repeated. It is repeated for 10 s while the
   * connection is lost.
   */
  repeatable<T>(work: (db: Queries) => Promise<T>): Promise<T>;
  /** Runs work that must not run twice. It is repeated, for 10 s, only when connecting failed, so that nothing was sent. */
  once<T>(work: (db: Queries) => Promise<T>): Promise<T>;
  /**
   * Commits everything that `work` does, or nothing, if it throws. Its work may run twice, but takes effect once: it is
   * repeated, for 10 s, while the connection is lost before the commit is sent.
   */
  transaction<T>(work: (trx: Transaction) => Promise<T>): Promise<T>;
}
