import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs } from '@lodge/domain';
import { DatabaseBusyError } from '@lodge/ports';
import type { Log } from '@lodge/ports';
import { Kysely, PostgresDialect, sql } from 'kysely';
import { Client, DatabaseError, Pool } from 'pg';
import { camelCase } from './camel-case.ts';
import type { Database } from './database.ts';
import type { DB } from './tables.ts';

/** The address of the database. `connectionString` may contain a password: never log it. */
export interface DatabaseConfig {
  readonly connectionString: string;
  /** Connections of the pool; 10 by default. */
  readonly maxConnections?: number;
  /** Longest wait for a connection of the pool, 5 s by default. Then the work fails with `DatabaseBusyError`. */
  readonly waitMs?: number;
}

const defaultMaxConnections = 10;
const connectTimeoutMs = 5_000;
/** Most work that waits for a connection. Further work fails at once, because its turn would not come in time. */
const maxWaiting = 1_000;
/** Longest statement, waiting for a lock included. The server ends it. */
const statementTimeoutMs = 10_000;
/** Longest statement at a server that hangs and ends nothing. The client gives up. */
const queryTimeoutMs = 15_000;
/** A transaction whose client froze holds its locks no longer than this. */
const idleInTransactionTimeoutMs = 10_000;
/** Longest time of repeating. A restart of the database takes less, unless it has much to recover. */
const retryForMs = 10_000;
const retries = { firstMs: 25, maxMs: 400 };

const base = {
  application_name: 'lodge',
  connectionTimeoutMillis: connectTimeoutMs,
  keepAlive: true,
};

/** The pool of one store, with the rules for repeating work when the database restarts. */
interface OpenedDatabase extends Database {
  /** Resolves when the database answers; tried once. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export function openDatabase(config: DatabaseConfig, log: Log): OpenedDatabase {
  const pool = new Pool({
    ...base,
    connectionString: config.connectionString,
    max: config.maxConnections ?? defaultMaxConnections,
    connectionTimeoutMillis: config.waitMs ?? connectTimeoutMs,
    statement_timeout: statementTimeoutMs,
    query_timeout: queryTimeoutMs,
    idle_in_transaction_session_timeout: idleInTransactionTimeoutMs,
  });
  // Without a listener either would end the process: a connection lost while it is idle in the pool, and one lost between
  // two statements of a transaction. The user of the connection gets the error from its next statement.
  pool.on('error', (error) => {
    if (!pool.ending) log.warn({ err: error }, 'an idle database connection was lost');
  });
  pool.on('connect', (client) => client.on('error', () => undefined));
  const db = new Kysely<DB>({ dialect: new PostgresDialect({ pool }), plugins: [camelCase] });
  const retrying: typeof repeated = async (work, isTransient) => {
    if (pool.waitingCount >= maxWaiting) throw new DatabaseBusyError();
    return repeated(work, isTransient);
  };
  return {
    session: randomUUID(),
    repeatable: (work) => retrying(() => work(db), isConnectionLost),
    read: ({ name, text }, values) =>
      retrying(async () => {
        const { rows } = await pool.query({ name, text, values: [...values] });
        return rows.map(({ row }) => row);
      }, isConnectionLost),
    once: (work) => retrying(() => work(db), isNothingSent),
    transaction: (work) => {
      let committing = false;
      return retrying(
        () =>
          db.transaction().execute(async (trx) => {
            const result = await work(trx);
            committing = true;
            return result;
          }),
        (error) => !committing && isConnectionLost(error),
      );
    },
    ping: () =>
      retrying(
        async () => void (await sql`select 1`.execute(db)),
        () => false,
      ),
    async close() {
      await db.destroy();
      // Kysely ends only a pool that it has used.
      if (!pool.ending) await pool.end();
    },
  };
}

/** Opens one connection outside the pool, tried once. A statement has no limit, unless `queryTimeoutMs` sets one. */
export async function connectClient(config: DatabaseConfig, queryTimeoutMs?: number): Promise<Client> {
  const client = new Client({ ...base, connectionString: config.connectionString, query_timeout: queryTimeoutMs });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** Repeats work, for 10 s, that failed because the database takes no connection yet. */
export const awaitingDatabase = <T>(work: () => Promise<T>): Promise<T> => repeated(work, isNothingSent);

async function repeated<T>(work: () => Promise<T>, isTransient: (error: unknown) => boolean): Promise<T> {
  const deadline = performance.now() + retryForMs;
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (isBusy(error)) throw new DatabaseBusyError({ cause: error });
      const delayMs = backoffMs(retries, tries);
      if (!isTransient(error) || performance.now() + delayMs > deadline) throw withoutData(error);
      await sleep(delayMs);
    }
  }
}

/**
 * Whether nothing was sent: the socket refused, or the server did before it took a statement (57P03, cannot_connect_now).
 */
function isNothingSent(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown };
  return code === 'ECONNREFUSED' || code === 'ENOENT' || code === '57P03';
}

/**
 * Whether the connection was lost: an admin or crash shutdown, a broken socket, or one of pg's errors of that meaning, which
 * have no code.
 */
function isConnectionLost(error: unknown): boolean {
  if (isNothingSent(error)) return true;
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  return (
    code === '57P01' ||
    code === '57P02' ||
    code === 'ECONNRESET' ||
    code === 'EPIPE' ||
    (code === undefined && /^Connection terminated|^Client has encountered a connection error/.test(String(message)))
  );
}

/**
 * Whether the pool's wait is over (pg-pool has no code for it), or the server has no connection left (53300,
 * too_many_connections).
 */
function isBusy(error: unknown): boolean {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  return code === '53300' || message === 'timeout exceeded when trying to connect';
}

/** Removes the offending row, which Postgres repeats in `detail`, because errors are logged. */
function withoutData(error: unknown): unknown {
  if (error instanceof DatabaseError) error.detail = undefined;
  return error;
}
