/** Calls for one agent, served one at a time and in order. */
import { VmError } from '@lodge/engine/ports';
import { throwIfAborted } from './waiting.ts';

export interface Call<T> {
  /** The execution a create makes; null for any other call. */
  readonly creates: string | null;
  readonly signal?: AbortSignal;
  readonly work: (signal: AbortSignal) => Promise<T>;
}

interface Line {
  tail: Promise<unknown>;
  waiting: number;
  readonly creates: Set<{ readonly executionId: string; readonly abort: AbortController }>;
}

/** A caller that is this far behind has lost its way. */
const mostWaiting = 16;

export class AgentCalls {
  private readonly lines = new Map<string, Line>();

  async run<T>(agentId: string, call: Call<T>): Promise<T> {
    const line = this.lines.get(agentId) ?? { tail: Promise.resolve(), waiting: 0, creates: new Set() };
    if (line.waiting >= mostWaiting) throw new VmError('failed', `${agentId}: too many calls are waiting`);
    this.lines.set(agentId, line);
    const abort = new AbortController();
    const own = { executionId: call.creates ?? '', abort };
    if (call.creates !== null) line.creates.add(own);
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
      line.creates.delete(own);
      if (line.waiting === 0) this.lines.delete(agentId);
    }
  }

  /** Ends the creates of an agent that were asked for so far, but those of `except`. */
  voidCreates(agentId: string, reason: VmError, except: string | null = null): void {
    for (const { executionId, abort } of this.lines.get(agentId)?.creates ?? []) {
      if (executionId !== except) abort.abort(reason);
    }
  }

  /** Ends every create and resolves when no call is under way. */
  async end(reason: VmError): Promise<void> {
    for (const agentId of this.lines.keys()) this.voidCreates(agentId, reason);
    await Promise.all([...this.lines.values()].map((line) => line.tail));
  }
}
