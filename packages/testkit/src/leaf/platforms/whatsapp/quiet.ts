import { AsyncLocalStorage } from 'node:async_hooks';
import type { addTransactionCapability } from 'baileys';

/** A logger that writes nothing: the library logs keys and texts. */
export const quietLogger: Parameters<typeof addTransactionCapability>[1] = {
  level: 'silent',
  child: () => quietLogger,
  trace: () => undefined,
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

const within = new AsyncLocalStorage<true>();

/** Runs work of the Signal library, which writes whole sessions to the console, without that. */
export const quietly = <T>(work: () => T): T => within.run(true, work);

for (const level of ['log', 'info', 'warn', 'error'] as const) {
  const write = console[level].bind(console);
  console[level] = (...given: unknown[]) => {
    if (within.getStore() !== true) write(...given);
  };
}
