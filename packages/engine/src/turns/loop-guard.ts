/**
 * Sees the model calls of this host's agents by turn. A turn is a chat from its beginning to its end. Calls of an agent
 * outside any chat (its own activity) count in spans of ten minutes. Nobody can know which of several concurrent turns a
 * call belongs to, so they share one span, and each adds its allowance to it.
 *
 * A span is cut as a loop when too many calls were admitted in it, or the same request was answered too often. A refusal
 * that ends the turn (a loop, a spend limit) reaches every turn of the agent. It does so once no admitted call is running
 * any more and the results had a moment to arrive. So nobody waits until the runtime gives up by itself.
 *
 * When another agent asked for a turn, that agent pays: each call is written as its own. Where turns with several payers run
 * at once, the calls are shared out evenly among the turns; if one payer's limit refuses a call, the next one pays.
 *
 * The state is in memory, by process: the process that has an agent's machine makes its turns. A restart begins with empty
 * spans.
 */
import { Refusal } from '@lodge/domain';
import type { AskedTurn, Turn, TurnPlace } from '../agents/agents.ts';
import type { CallLedger, CallRefusal, LlmCall, Log, OpenCall, SealedContent } from '@lodge/ports';

export interface LoopBounds {
  /** Most calls of a turn, or of a span outside of turns. */
  readonly calls: number;
  /** Most answers to one request in it. */
  readonly same: number;
}

export const defaultLoopBounds: LoopBounds = { calls: 200, same: 10 };

export interface TurnsDeps {
  readonly log: Log;
  readonly bounds: LoopBounds;
  /** Notifies the agent's owner. */
  readonly tell: (agentId: string, message: string) => Promise<void>;
  /** Called with an agent that must be put to sleep. */
  readonly sleep: (agentId: string) => void;
  /** Called once a call is in the ledger. */
  readonly note: (call: LlmCall) => Promise<void>;
}

const unasked = { askers: [], depth: 0, limited: false } as const;

const unpriced: CallRefusal = {
  code: 'spend_limit_exceeded',
  message: 'The model has no known price, and the agent that asks has a spend limit.',
  retryAfterSeconds: 60,
  ends: 'turn',
};

/** Turns of one payer, the one with the fewest calls first. */
interface Payer extends Pick<AskedTurn, 'payerId' | 'limited'> {
  readonly turns: readonly ActiveTurn[];
}

interface Span {
  /** Null within turns: the span ends with the last of them. */
  readonly until: number | null;
  allowed: number;
  calls: number;
  /** How often each request was answered, by its digest. */
  readonly answers: Map<string, number>;
  /** Set once the span is cut. */
  loop: CallRefusal | null;
}

/** A call in progress. */
interface Admitted {
  readonly span: Span;
  readonly digest: string;
}

interface Caller {
  readonly turns: Set<ActiveTurn>;
  readonly underWay: Map<string, Admitted>;
  span: Span;
}

const outsideMs = 10 * 60_000;
/** Time for the results of the last calls to reach the client. */
const graceMs = 2_000;
/** A cut turn is over soon. */
const loopRetrySeconds = 60;
/** Beyond this number, agents whose span has ended are looked for and forgotten. */
const maxCallers = 1_000;
/** Bound on calls that another agent pays for and whose row was never written. */
const maxPayers = 10_000;

class ActiveTurn implements Turn {
  readonly signal: AbortSignal;
  refusal: Refusal | null = null;
  hasModelAnswered = false;
  isFinal = false;
  /** Calls that were counted for the turn. */
  calls = 0;
  readonly asked: AskedTurn;
  readonly place: TurnPlace | null;
  private readonly cutting = new AbortController();

  constructor(over: AbortSignal, asked: AskedTurn, place: TurnPlace | null) {
    this.asked = asked;
    this.place = place;
    this.signal = AbortSignal.any([over, this.cutting.signal]);
  }

  cut(): void {
    this.cutting.abort(this.refusal);
  }
}

export class Turns {
  private readonly deps: TurnsDeps;
  private readonly callers = new Map<string, Caller>();
  /** Payers of calls that another agent pays for, until the calls are closed. */
  private readonly payers = new Map<string, string>();

  constructor(deps: TurnsDeps) {
    this.deps = deps;
  }

  /** A turn of the agent, until `over` aborts. */
  begin(
    agentId: string,
    over: AbortSignal,
    asked: AskedTurn = { ...unasked, payerId: agentId },
    place: TurnPlace | null = null,
  ): Turn {
    const turn = new ActiveTurn(over, asked, place);
    if (over.aborted) return turn;
    const caller = this.caller(agentId);
    if (caller.turns.size === 0) caller.span = this.newSpan(null);
    else caller.span.allowed += this.deps.bounds.calls;
    caller.turns.add(turn);
    over.addEventListener('abort', () => this.end(agentId, caller, turn), { once: true });
    return turn;
  }

  /** The askers of the agent's running turns. */
  asked(agentId: string): readonly AskedTurn[] {
    return [...(this.callers.get(agentId)?.turns ?? [])].map(({ asked }) => asked);
  }

  /** The conversation of the agent's turn; null when there is none, or several turns, as nobody can know which one is at work. */
  placeOf(agentId: string): TurnPlace | null {
    const [turn, ...others] = this.callers.get(agentId)?.turns ?? [];
    return others.length === 0 ? (turn?.place ?? null) : null;
  }

  /** Wraps the ledger: it looks for loops and passes refusals on to the turns. */
  watch(ledger: CallLedger): CallLedger {
    return {
      open: (call) => this.open(ledger, call),
      close: (call, content) => this.close(ledger, call, content),
      payerIsLimited: (agentId) => {
        const caller = this.callers.get(agentId);
        return caller !== undefined && payersOf(caller, agentId).some(({ limited }) => limited);
      },
    };
  }

  private end(agentId: string, caller: Caller, turn: ActiveTurn): void {
    caller.turns.delete(turn);
    if (caller.turns.size > 0) return;
    if (caller.underWay.size === 0) this.callers.delete(agentId);
    else caller.span = this.newSpan(Date.now() + outsideMs);
  }

  private async open(ledger: CallLedger, call: OpenCall): Promise<CallRefusal | null> {
    const { agentId, id, digest } = call;
    const caller = this.caller(agentId);
    // A call that is opened again because its answer was lost counts once.
    if (!caller.underWay.has(id)) {
      const span = this.spanOf(caller);
      const loop = this.loopIn(span, agentId, digest);
      if (loop !== null) {
        this.refused(agentId, loop, caller.turns);
        this.cutSoon(caller);
        return loop;
      }
      span.calls += 1;
      caller.underWay.set(id, { span, digest });
    }
    try {
      const refusal = await this.openFor(payersOf(caller, agentId), ledger, call);
      if (refusal !== null) {
        uncount(caller, id);
        this.cutSoon(caller);
      }
      return refusal;
    } catch (error) {
      uncount(caller, id);
      throw error;
    }
  }

  /** Opens the call for the first payer whose limits admit it; returns the last one's refusal if none do. */
  private async openFor(payers: readonly Payer[], ledger: CallLedger, call: OpenCall): Promise<CallRefusal | null> {
    let refusal: CallRefusal | null = null;
    for (const { payerId, turns, limited } of payers) {
      const isUnpriced = limited && payerId !== call.agentId && call.estimate.costUsd === null;
      refusal = isUnpriced ? unpriced : await ledger.open({ ...call, agentId: payerId });
      if (refusal !== null) {
        this.refused(payerId, refusal, turns);
        continue;
      }
      if (payerId !== call.agentId) this.remember(call.id, payerId);
      const [fewest] = turns;
      if (fewest) fewest.calls += 1;
      for (const turn of turns) if (!turn.isFinal) turn.refusal = null;
      return null;
    }
    return refusal;
  }

  private async close(ledger: CallLedger, call: LlmCall, content?: SealedContent | null): Promise<void> {
    const booked = { ...call, agentId: this.payers.get(call.id) ?? call.agentId };
    try {
      await ledger.close(booked, content);
      this.payers.delete(call.id);
    } finally {
      this.ended(call);
    }
    await this.deps.note(booked).catch((error: unknown) => {
      this.deps.log.warn({ err: error, agent_id: call.agentId }, 'what is left of spend limits was not looked at');
    });
  }

  private ended({ id, agentId, outcome }: LlmCall): void {
    const caller = this.callers.get(agentId);
    const admitted = caller?.underWay.get(id);
    if (!caller || !admitted) return;
    caller.underWay.delete(id);
    const { answers } = admitted.span;
    if (outcome === 'ok') {
      answers.set(admitted.digest, (answers.get(admitted.digest) ?? 0) + 1);
      const [turn, ...others] = caller.turns;
      if (turn && others.length === 0) turn.hasModelAnswered = true;
    }
    this.cutSoon(caller);
  }

  private remember(callId: string, payerId: string): void {
    this.payers.set(callId, payerId);
    if (this.payers.size > maxPayers) this.payers.delete(this.payers.keys().next().value!);
  }

  /** Notes a refusal. `agentId` has the limit; `turns` get the refusal. */
  private refused(agentId: string, refusal: CallRefusal, turns: Iterable<ActiveTurn>): void {
    const reported = new Refusal(refusal.code, refusal.message, {
      agentId: agentId,
      retryAfterSeconds: refusal.retryAfterSeconds,
    });
    for (const turn of turns) {
      if (turn.isFinal) continue;
      turn.refusal = reported;
      turn.isFinal = refusal.ends !== undefined;
    }
    if (refusal.ends === 'sleep') this.deps.sleep(agentId);
  }

  private cutSoon(caller: Caller): void {
    const isOver = (): boolean => caller.underWay.size === 0;
    const final = [...caller.turns].filter(({ isFinal }) => isFinal);
    if (final.length === 0 || !isOver()) return;
    setTimeout(() => {
      if (isOver()) for (const turn of final) turn.cut();
    }, graceMs).unref();
  }

  private loopIn(span: Span, agentId: string, digest: string): CallRefusal | null {
    if (span.loop !== null) return span.loop;
    const { same } = this.deps.bounds;
    const within = span.until === null ? 'in one turn' : 'in ten minutes outside of turns';
    let what: string;
    if (span.calls >= span.allowed) what = `${span.calls} model calls`;
    else if ((span.answers.get(digest) ?? 0) >= same) what = `the same model request ${same} times`;
    else return null;
    span.loop = {
      code: 'loop_detected',
      message: `The agent seems to go in circles: ${what} ${within}. Further ones are refused.`,
      retryAfterSeconds: span.until === null ? loopRetrySeconds : Math.ceil((span.until - Date.now()) / 1000),
      ends: 'turn',
    };
    this.deps.tell(agentId, `${span.loop.message} (loop_detected)`).catch((error: unknown) => {
      this.deps.log.warn({ err: error, agent_id: agentId }, 'a loop was not told of');
    });
    return span.loop;
  }

  private spanOf(caller: Caller): Span {
    const { turns, span } = caller;
    if (turns.size === 0 && (span.until ?? 0) <= Date.now()) caller.span = this.newSpan(Date.now() + outsideMs);
    return caller.span;
  }

  private caller(agentId: string): Caller {
    const known = this.callers.get(agentId);
    if (known) return known;
    if (this.callers.size >= maxCallers) this.forget();
    const fresh: Caller = { turns: new Set(), underWay: new Map(), span: this.newSpan(Date.now() + outsideMs) };
    this.callers.set(agentId, fresh);
    return fresh;
  }

  private forget(): void {
    for (const [id, { turns, underWay, span }] of this.callers) {
      if (turns.size + underWay.size === 0 && (span.until ?? 0) <= Date.now()) this.callers.delete(id);
    }
  }

  private newSpan(until: number | null): Span {
    return { until, allowed: this.deps.bounds.calls, calls: 0, answers: new Map(), loop: null };
  }
}

/** Takes a call back that was not made after all. */
function uncount({ underWay }: Caller, id: string): void {
  const admitted = underWay.get(id);
  if (!admitted) return;
  admitted.span.calls -= 1;
  underWay.delete(id);
}

/**
 * The agents that may pay for a call now, the one whose turn had the fewest calls first; outside of turns the agent itself.
 */
function payersOf({ turns }: Caller, agentId: string): readonly Payer[] {
  const payers = new Map<string, ActiveTurn[]>();
  const going = [...turns].filter(({ isFinal }) => !isFinal);
  for (const turn of (going.length > 0 ? going : [...turns]).toSorted((a, b) => a.calls - b.calls)) {
    const { payerId } = turn.asked;
    payers.set(payerId, [...(payers.get(payerId) ?? []), turn]);
  }
  if (payers.size === 0) return [{ payerId: agentId, limited: false, turns: [] }];
  return [...payers].map(([payerId, own]) => ({
    payerId,
    turns: own,
    limited: own.some(({ asked }) => asked.limited),
  }));
}
