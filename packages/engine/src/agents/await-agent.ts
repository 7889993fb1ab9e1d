import type { AgentRow, AgentStore } from '@lodge/ports';

/** A change notification may be lost with the database's connection; then this often is looked anyway. */
const pollMs = 1_000;

/**
 * Waits until `done` holds for the agent's row (null: it is gone), `timeoutMs` passed or `signal` aborted, whichever is
 * first, and gives the row as it is then.
 */
export async function awaitAgent(
  store: AgentStore,
  id: string,
  done: (row: AgentRow | null) => boolean,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<AgentRow | null> {
  const deadline = Date.now() + timeoutMs;
  let changed = Promise.withResolvers<void>();
  const unsubscribe = store.onChange((changedId) => {
    if (changedId === null || changedId === id) changed.resolve();
  });
  const abort = (): void => changed.resolve();
  signal.addEventListener('abort', abort);
  try {
    for (;;) {
      changed = Promise.withResolvers<void>();
      const row = await store.find(id);
      const leftMs = deadline - Date.now();
      if (done(row) || leftMs <= 0 || signal.aborted) return row;
      const timer = setTimeout(changed.resolve, Math.min(pollMs, leftMs));
      await changed.promise;
      clearTimeout(timer);
    }
  } finally {
    unsubscribe();
    signal.removeEventListener('abort', abort);
  }
}
