import type { EndedOperation, Log } from '@lodge/ports';

type Listener = (operation: EndedOperation) => void;

/** Notifies counters once each end is committed. */
export class EndedOperations {
  private readonly listeners = new Set<Listener>();
  private readonly log: Log;

  constructor(log: Log) {
    this.log = log;
  }

  on(listener: Listener): () => void {
    const own: Listener = (operation) => listener(operation);
    this.listeners.add(own);
    return () => this.listeners.delete(own);
  }

  tell(operation: EndedOperation): void {
    for (const listener of this.listeners) {
      try {
        listener(operation);
      } catch (error) {
        this.log.error({ err: error }, 'a listener for ended operations failed');
      }
    }
  }
}
