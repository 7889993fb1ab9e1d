import { findAgent } from '@lodge/store/agents';
import type { AgentRow } from '@lodge/store/agents';
import type { Store } from '@lodge/store';

/** Interval of look-ups. A change notification may be lost with the database's connection. */
const pollMs = 1_000;

/**
 * Waits until `done` holds for the agent's row (null: the agent is gone), `timeoutMs` passed or `signal` aborted, whichever
 * is first. Returns the row as it then is.
 */
export async function awaitAgent(
  { database, changes }: Pick<Store, 'database' | 'changes'>,
  id: string,
  done: (row: AgentRow | null) => boolean,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<AgentRow | null> {
  const deadline = Date.now() + timeoutMs;
  let changed = Promise.withResolvers<void>();
  const unsubscribe = changes.on('agent_changed', (changedId) => {
    if (changedId === null || changedId === id) changed.resolve();
  });
  const abort = (): void => changed.resolve();
  signal.addEventListener('abort', abort);
  try {
    for (;;) {
      changed = Promise.withResolvers<void>();
      const row = await findAgent(database, id);
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
