/**
 * Calls of agents that wait for somebody's decision, told to those who follow the agents' turns. In memory of this process: it
 * makes the turns of the machines that it has, and answers their calls.
 */
import type { GatewayEvent } from '@lodge/ports';

/** A call of a turn that waits for a decision. */
export interface TurnWait {
  /** The confirmation's. */
  readonly id: string;
  /** The word of the rules that names it, and the text that they match. */
  readonly on: string;
  readonly target: string;
  /** Lodge's sentence, and the agent's words. */
  readonly action: string;
  readonly quoted: string | null;
}

/** An event of a turn. */
export interface TurnEvent extends GatewayEvent {
  /** A call begins to wait. The event then has no block and adds nothing else. */
  readonly wait?: TurnWait;
}

/** Follows the waiting calls of one turn. */
export interface WaitsOfTurn {
  /** Calls that wait and were not told yet. */
  take(): TurnWait | null;
  /** Resolves when a further call waits. */
  next(): Promise<null>;
  /** Calls about which nobody has decided. */
  undecided(): readonly TurnWait[];
}

class Watcher implements WaitsOfTurn {
  readonly conversation: string | null;
  readonly open = new Map<string, TurnWait>();
  private readonly untold: TurnWait[] = [];
  private wake: (() => void) | null = null;

  constructor(conversation: string | null) {
    this.conversation = conversation;
  }

  add(wait: TurnWait): void {
    this.open.set(wait.id, wait);
    this.untold.push(wait);
    this.wake?.();
  }

  take(): TurnWait | null {
    return this.untold.shift() ?? null;
  }

  next(): Promise<null> {
    return new Promise((resolve) => {
      this.wake = () => resolve(null);
      if (this.untold.length > 0) resolve(null);
    });
  }

  undecided(): readonly TurnWait[] {
    return [...this.open.values()];
  }
}

export class TurnWaits {
  private readonly watchers = new Map<string, Set<Watcher>>();

  /** A turn of the agent, until `over` aborts. */
  watch(agentId: string, conversation: string | null, over: AbortSignal): WaitsOfTurn {
    const watcher = new Watcher(conversation);
    if (over.aborted) return watcher;
    const ofAgent = this.watchers.get(agentId) ?? new Set();
    this.watchers.set(agentId, ofAgent.add(watcher));
    const leave = (): void => {
      ofAgent.delete(watcher);
      if (ofAgent.size === 0 && this.watchers.get(agentId) === ofAgent) this.watchers.delete(agentId);
    };
    over.addEventListener('abort', leave, { once: true });
    return watcher;
  }

  /**
   * A call of the agent begins to wait. Where nobody can know which turn it belongs to (`conversation` is null), all turns of
   * the agent are told. Returns a function to call when it waits no longer.
   */
  begin(agentId: string, conversation: string | null, wait: TurnWait): (isDecided: boolean) => void {
    const told = [...(this.watchers.get(agentId) ?? [])].filter(
      (watcher) => conversation === null || watcher.conversation === conversation,
    );
    for (const watcher of told) watcher.add(wait);
    return (isDecided) => {
      if (isDecided) for (const { open } of told) open.delete(wait.id);
    };
  }
}

const waitEvent = (wait: TurnWait): TurnEvent => ({
  block: '',
  data: null,
  otherLines: [],
  text: '',
  isLast: false,
  wait,
});

/** Yields the same events, and those of calls that wait as soon as they do. */
export async function* withWaits(events: AsyncIterable<GatewayEvent>, waits: WaitsOfTurn): AsyncGenerator<TurnEvent> {
  const iterator = events[Symbol.asyncIterator]();
  try {
    for (let next: Promise<IteratorResult<GatewayEvent>> | null = null; ;) {
      for (let wait = waits.take(); wait !== null; wait = waits.take()) yield waitEvent(wait);
      next ??= iterator.next();
      const first = await Promise.race([next, waits.next()]);
      if (first === null) continue;
      if (first.done) return;
      next = null;
      yield first.value;
    }
  } finally {
    await iterator.return?.();
  }
}
