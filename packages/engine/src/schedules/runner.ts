/**
 * Makes runs of schedules whose time has come, and turns of runs that wait.
 *
 * Woken by a signal and by a timer, it owns nothing that a restart would lose, and asks the database alone what time it is. A time that
 * has come is a row before anything is done about it. A run is claimed before its turn and its claim renewed while the turn lasts;
 * what comes of it is written under the claim. A process that dies leaves claims that end by themselves. One that ends in order
 * gives its runs a bounded while and puts off the rest.
 */
import type { ClaimedRun, ScheduleRuns } from '@lodge/ports';
import { TurnCut } from '../channels/answering/cut.ts';
import { Periodic } from '../periodic.ts';
import { perform } from './run.ts';
import type { RunDeps } from './run.ts';
import { planAgain, planFiring } from './timing.ts';

export interface RunnerDeps extends RunDeps {
  readonly runs: ScheduleRuns;
  /** Names this process among those that may make runs. */
  readonly holder: string;
  /** Names this host: an agent's machine is on one. */
  readonly host: string;
}

interface UnderWay {
  readonly claimed: ClaimedRun;
  readonly cut: AbortController;
  readonly done: Promise<void>;
}

export class ScheduleRunner {
  private readonly deps: RunnerDeps;
  private readonly underWay = new Set<UnderWay>();
  private readonly rounds: readonly Periodic[];
  private looking: Promise<void> | null = null;
  private isWanted = false;
  private renewing: Promise<void> | null = null;
  private renewedAt = Date.now();
  private isStopping = false;
  private isCutting = false;
  private timers: NodeJS.Timeout[] = [];
  private unsubscribe: () => void = () => undefined;

  constructor(deps: RunnerDeps) {
    this.deps = deps;
    const { runs, bounds, log } = deps;
    this.rounds = [
      new Periodic({
        everyMs: bounds.replanEveryMs,
        log,
        failed: 'schedules were not looked at for a clock that went back',
        round: () => runs.replan(planAgain),
      }),
      new Periodic({
        everyMs: bounds.tidyEveryMs,
        log,
        failed: 'old runs of schedules not deleted; it will be repeated',
        round: () => runs.tidy(bounds),
      }),
    ];
  }

  start(): void {
    const { runs, bounds } = this.deps;
    this.unsubscribe = runs.onWork(() => this.onWork());
    this.timers = [
      setInterval(() => this.look(), bounds.lookEveryMs),
      setInterval(() => this.renew(), bounds.leaseMs / 3),
    ];
    for (const round of this.rounds) round.start();
    this.look();
  }

  /** Resolves when no run is under way any more. Claims outlast the turns' last while without being renewed. */
  async stop(): Promise<void> {
    this.isStopping = true;
    this.unsubscribe();
    for (const timer of this.timers) clearInterval(timer);
    const cutting = setTimeout(() => {
      this.isCutting = true;
      for (const { cut } of this.underWay) cut.abort(new TurnCut('closing'));
    }, this.deps.bounds.drainMs);
    await Promise.all(this.rounds.map((round) => round.stop()));
    // What a look finds is under way too.
    await this.looking;
    await Promise.all([...this.underWay].map(({ done }) => done)).finally(() => clearTimeout(cutting));
    await this.renewing;
  }

  /** A schedule may be gone, and its run with it. */
  private onWork(): void {
    this.look();
    if (this.underWay.size > 0) this.renew();
  }

  private look(): void {
    if (this.isStopping) return;
    if (this.looking !== null) {
      this.isWanted = true;
      return;
    }
    this.isWanted = false;
    this.looking = this.round()
      .catch((error: unknown) => this.deps.log.warn({ err: error }, 'schedules were not looked at'))
      .finally(() => {
        this.looking = null;
        if (this.isWanted) this.look();
      });
  }

  private async round(): Promise<void> {
    const { runs, holder, host, bounds } = this.deps;
    await runs.fire(bounds.fired, planFiring);
    for (;;) {
      const limit = bounds.runs - this.underWay.size;
      if (limit <= 0 || this.isStopping) return;
      const except = [...this.underWay].map(({ claimed }) => claimed.id);
      const claimed = await runs.claim({ holder, host, limit, leaseMs: bounds.leaseMs, except });
      for (const run of claimed) this.begin(run);
      if (claimed.length < limit) return;
    }
  }

  private begin(claimed: ClaimedRun): void {
    const cut = new AbortController();
    if (this.isCutting) cut.abort(new TurnCut('closing'));
    const done = perform(this.deps, claimed, cut.signal)
      .catch((error: unknown) => {
        const { agentId: agent_id, id: schedule_id } = claimed.schedule;
        this.deps.log.warn(
          { err: error, agent_id, schedule_id },
          'the end of a run was not written; its claim will end',
        );
      })
      .finally(() => {
        this.underWay.delete(one);
        this.look();
      });
    const one: UnderWay = { claimed, cut, done };
    this.underWay.add(one);
  }

  private renew(): void {
    this.renewing ??= this.renewAll()
      .catch((error: unknown) => this.deps.log.warn({ err: error }, 'claims of runs were not renewed'))
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
    const { runs, bounds } = this.deps;
    try {
      const claims = present.map(({ claimed }) => claimed);
      const held = await runs.renew(claims, bounds.leaseMs);
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
