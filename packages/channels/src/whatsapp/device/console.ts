/**
 * The Signal library under baileys writes whole sessions, private keys included, to the console ("Closing session"). Whatever is
 * written from within its calls is dropped; all else passes.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

const within = new AsyncLocalStorage<true>();
let isSet = false;

/** Runs work whose writes to the console are dropped, those of what it awaits and starts included. */
export function withoutConsole<T>(work: () => T): T {
  if (!isSet) setUp();
  return within.run(true, work);
}

function setUp(): void {
  isSet = true;
  for (const level of ['log', 'info', 'warn', 'error', 'debug'] as const) {
    const write = console[level].bind(console);
    console[level] = (...given: unknown[]) => {
      if (within.getStore() !== true) write(...given);
    };
  }
}
