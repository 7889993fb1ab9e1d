/**
 * Requests under way, so that a `notifications/cancelled`, which comes as a request of its own, finds them. They are known by
 * their principal, their session and their id: ids of two clients with one key are often the same.
 */
import type { Principal } from '@lodge/ports';

export interface CallName {
  readonly principal: Principal;
  readonly session: string | null;
  readonly id: unknown;
}

export class RunningCalls {
  private readonly calls = new Map<string, () => void>();

  /** Returns the function that ends the entry. Without a session a request cannot be told from others. */
  begin(name: CallName, cancel: () => void): () => void {
    const key = keyOf(name);
    if (key === null || this.calls.has(key)) return () => undefined;
    this.calls.set(key, cancel);
    return () => void this.calls.delete(key);
  }

  cancel(name: CallName): void {
    const key = keyOf(name);
    if (key !== null) this.calls.get(key)?.();
  }
}

function keyOf({ principal: { by }, session, id }: CallName): string | null {
  if (session === null || (typeof id !== 'string' && typeof id !== 'number')) return null;
  return JSON.stringify([by.kind, by.id, session, id]);
}
