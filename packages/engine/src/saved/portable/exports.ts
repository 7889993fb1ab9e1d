/** Exports that wait for their agents to be quiet. They end with the process, and the requests that wait for them. */
import type { ScratchFile } from '@lodge/ports';

/** Why nothing was read; null when all of it was. `why` is a public sentence. */
export type ReadOutcome = { readonly why: string; readonly isBusy: boolean } | null;

export interface PendingExport {
  readonly scratch: ScratchFile;
  /** Aborts when nobody waits for it any more. */
  readonly signal: AbortSignal;
  readonly end: (outcome: ReadOutcome) => void;
}

export class Exports {
  private readonly pending = new Map<string, PendingExport>();
  private readonly taken = new WeakSet<PendingExport>();

  /** Returns false when the agent is being exported already. */
  add(agentId: string, pending: PendingExport): boolean {
    if (this.pending.has(agentId)) return false;
    this.pending.set(agentId, pending);
    return true;
  }

  /** Returns the export, whose taker ends it whatever happens; null when nobody waits for one. */
  take(agentId: string): PendingExport | null {
    const pending = this.pending.get(agentId);
    if (pending === undefined || pending.signal.aborted) return null;
    this.taken.add(pending);
    return pending;
  }

  isTaken(agentId: string): boolean {
    const pending = this.pending.get(agentId);
    return pending !== undefined && this.taken.has(pending);
  }

  remove(agentId: string): void {
    this.pending.delete(agentId);
  }
}
