/** Serves calls for one agent one at a time and in order. */
import { VmError } from '@lodge/ports';
import { throwIfAborted } from './waiting.ts';

export interface Call<T> {
  /** The execution that a create makes: the create of a newer one ends it. Null for any other call. */
  readonly creates: string | null;
  /** Whether a removal or the driver's stop ends the call; a create's calls always end. */
  readonly yields?: boolean;
  readonly signal?: AbortSignal;
  readonly work: (signal: AbortSignal) => Promise<T>;
}

interface Running {
  readonly creates: string | null;
  readonly yields: boolean;
  readonly abort: AbortController;
}

interface Line {
  tail: Promise<unknown>;
  waiting: number;
  readonly running: Set<Running>;
}

/** A caller that is this far behind must be faulty. */
const maxWaiting = 16;

export class AgentCalls {
  private readonly lines = new Map<string, Line>();

  async run<T>(agentId: string, call: Call<T>): Promise<T> {
    const line = this.lines.get(agentId) ?? { tail: Promise.resolve(), waiting: 0, running: new Set() };
    if (line.waiting >= maxWaiting) throw new VmError('failed', `${agentId}: too many calls are waiting`);
    this.lines.set(agentId, line);
    const abort = new AbortController();
    const own = { creates: call.creates, yields: call.yields ?? call.creates !== null, abort };
    line.running.add(own);
    const signal = call.signal ? AbortSignal.any([abort.signal, call.signal]) : abort.signal;
    const turn = line.tail.then(() => {
      throwIfAborted(signal);
      return call.work(signal);
    });
    line.tail = turn.catch(() => undefined);
    line.waiting += 1;
    try {
      return await turn;
    } finally {
      line.waiting -= 1;
      line.running.delete(own);
      if (line.waiting === 0) this.lines.delete(agentId);
    }
  }

  /** Ends the agent's creates that were requested so far, except those of `executionId`. */
  supersede(agentId: string, executionId: string): void {
    const reason = new VmError('superseded', `execution ${executionId} of ${agentId} takes its place`);
    for (const { creates, abort } of this.lines.get(agentId)?.running ?? []) {
      if (creates !== null && creates !== executionId) abort.abort(reason);
    }
  }

  /** Ends every call of an agent that was requested so far and yields. */
  void(agentId: string, reason: VmError): void {
    for (const { yields, abort } of this.lines.get(agentId)?.running ?? []) if (yields) abort.abort(reason);
  }

  /** Ends every call that yields, and resolves when no call is running. */
  async end(reason: VmError): Promise<void> {
    for (const agentId of this.lines.keys()) this.void(agentId, reason);
    await Promise.all([...this.lines.values()].map((line) => line.tail));
  }
}
