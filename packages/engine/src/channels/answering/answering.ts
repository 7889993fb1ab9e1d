/**
 * Answers what came in on channels: looks for conversations in which messages wait, and makes a turn of each.
 *
 * Woken by a signal and by a timer, it owns nothing that a restart would lose. A conversation is claimed before its turn and its
 * claim renewed while the turn lasts; an answer is written under the claim alone. A process that dies leaves claims that end by
 * themselves. One that ends in order gives its turns a bounded while and puts off the rest.
 */
import type { ChannelTurns, WaitingConversation } from '@lodge/ports';
import { answerAsides } from './asides.ts';
import { converse } from './converse.ts';
import type { ConverseDeps } from './converse.ts';
import { TurnCut } from '../../claimed/cut.ts';

export interface AnsweringDeps extends ConverseDeps {
  readonly turns: ChannelTurns;
  /** Names this process among those that may answer. */
  readonly holder: string;
}

interface UnderWay {
  readonly claimed: WaitingConversation;
  readonly cut: AbortController;
  readonly done: Promise<void>;
}

export class Answering {
  private readonly deps: AnsweringDeps;
  private readonly underWay = new Set<UnderWay>();
  private looking: Promise<void> | null = null;
  private isWanted = false;
  private renewing: Promise<void> | null = null;
  private renewedAt = Date.now();
  private isStopping = false;
  private isCutting = false;
  private timers: NodeJS.Timeout[] = [];
  private unsubscribe: () => void = () => undefined;

  constructor(deps: AnsweringDeps) {
    this.deps = deps;
  }

  start(): void {
    const { turns, bounds } = this.deps;
    this.unsubscribe = turns.onWork(() => this.look());
    this.timers = [
      setInterval(() => this.look(), bounds.lookEveryMs),
      setInterval(() => this.renew(), bounds.leaseMs / 3),
    ];
    this.look();
  }

  /** Resolves when no turn is under way any more. Claims outlast the turns' last while without being renewed. */
  async stop(): Promise<void> {
    this.isStopping = true;
    this.unsubscribe();
    for (const timer of this.timers) clearInterval(timer);
    const cutting = setTimeout(() => {
      this.isCutting = true;
      for (const { cut } of this.underWay) cut.abort(new TurnCut('closing'));
    }, this.deps.bounds.drainMs);
    // What a look finds is under way too.
    await this.looking;
    await Promise.all([...this.underWay].map(({ done }) => done)).finally(() => clearTimeout(cutting));
    await this.renewing;
  }

  private look(): void {
    if (this.isStopping) return;
    if (this.looking !== null) {
      this.isWanted = true;
      return;
    }
    this.isWanted = false;
    this.looking = this.round()
      .catch((error: unknown) => this.deps.log.warn({ err: error }, 'messages of channels were not looked for'))
      .finally(() => {
        this.looking = null;
        if (this.isWanted) this.look();
      });
  }

  private async round(): Promise<void> {
    await this.cutStopped();
    await answerAsides(this.deps);
    const { turns, holder, bounds } = this.deps;
    for (;;) {
      const limit = bounds.turns - this.underWay.size;
      if (limit <= 0 || this.isStopping) return;
      const { turnsPerAgent: perAgent, leaseMs } = bounds;
      const claimed = await turns.claim({ holder, limit, perAgent, leaseMs });
      for (const conversation of claimed) this.begin(conversation);
      if (claimed.length < limit) return;
    }
  }

  private begin(claimed: WaitingConversation): void {
    const cut = new AbortController();
    if (this.isCutting) cut.abort(new TurnCut('closing'));
    const done = converse(this.deps, claimed, cut.signal)
      .catch((error: unknown) => {
        const { agentId: agent_id, channel } = claimed;
        this.deps.log.warn({ err: error, agent_id, channel }, 'an answer was not written; its claim will end');
      })
      .finally(() => {
        this.underWay.delete(one);
        this.look();
      });
    const one: UnderWay = { claimed, cut, done };
    this.underWay.add(one);
  }

  private async cutStopped(): Promise<void> {
    const present = [...this.underWay];
    if (present.length === 0) return;
    const stopped = await this.deps.turns.stopsWanted(present.map(({ claimed }) => claimed));
    for (const { claimed, cut } of present) if (stopped.has(claimed.id)) cut.abort(new TurnCut('stop'));
  }

  private renew(): void {
    this.renewing ??= this.renewAll()
      .catch((error: unknown) => this.deps.log.warn({ err: error }, 'claims of conversations were not renewed'))
      .finally(() => {
        this.renewing = null;
      });
  }

  private async renewAll(): Promise<void> {
    const present = [...this.underWay];
    const began = Date.now();
    if (present.length === 0) {
      this.renewedAt = began;
      return;
    }
    const { turns, bounds } = this.deps;
    try {
      const claims = present.map(({ claimed }) => claimed);
      const held = await turns.renew(claims, bounds.leaseMs);
      this.renewedAt = began;
      for (const { claimed, cut } of present) if (!held.has(claimed.id)) cut.abort(new TurnCut('claim_lost'));
    } catch (error) {
      // By now another process may have them.
      if (began - this.renewedAt > bounds.leaseMs) {
        for (const { cut } of present) cut.abort(new TurnCut('claim_lost'));
      }
      throw error;
    }
  }
}
