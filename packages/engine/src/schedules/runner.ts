/**
 * Makes runs of schedules whose time has come, and turns of runs that wait (`ClaimedWork`). It asks the database alone what time it is. A
 * time that has come is a row before anything is done about it.
 */
import type { ClaimedRun, ScheduleRuns } from '@lodge/ports';
import { ClaimedWork } from '../claimed/work.ts';
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

export class ScheduleRunner {
  private readonly work: ClaimedWork<ClaimedRun>;
  private readonly rounds: readonly Periodic[];

  constructor(deps: RunnerDeps) {
    const { runs, bounds, holder, host, log } = deps;
    const { leaseMs } = bounds;
    this.work = new ClaimedWork({
      bounds,
      before: () => runs.fire(bounds.fired, planFiring),
      claim: (limit, except) => runs.claim({ holder, host, limit, leaseMs, except }),
      renew: (claims) => runs.renew(claims, leaseMs),
      perform: (claimed, cut) => perform(deps, claimed, cut),
      onWork: (listener) => runs.onWork(listener),
      losesClaimsOnWork: true,
      what: 'runs of schedules',
      fields: ({ schedule: { agentId: agent_id, id: schedule_id } }) => ({ agent_id, schedule_id }),
      log,
    });
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
    for (const round of this.rounds) round.start();
    this.work.start();
  }

  /** Resolves when no run is under way any more. Claims outlast the turns' last while without being renewed. */
  async stop(): Promise<void> {
    await Promise.all([this.work.stop(), ...this.rounds.map((round) => round.stop())]);
  }
}
