/** Makes turns of the messages of hooks (`ClaimedWork`), and forgets old ones. */
import type { ClaimedHookMessage, HookTurns } from '@lodge/ports';
import { ClaimedWork } from '../claimed/work.ts';
import { Periodic } from '../periodic.ts';
import { perform } from './perform.ts';
import type { PerformDeps } from './perform.ts';

export interface HookRunnerDeps extends PerformDeps {
  readonly turns: HookTurns;
  /** Names this process among those that may make turns. */
  readonly holder: string;
  /** Names this host: an agent's machine is on one. */
  readonly host: string;
}

export class HookRunner {
  private readonly work: ClaimedWork<ClaimedHookMessage>;
  private readonly tidying: Periodic;

  constructor(deps: HookRunnerDeps) {
    const { turns, bounds, holder, host, log } = deps;
    const { leaseMs } = bounds;
    this.work = new ClaimedWork({
      bounds,
      claim: (limit, except) => turns.claim({ holder, host, limit, leaseMs, except }),
      renew: (claims) => turns.renew(claims, leaseMs),
      perform: (claimed, cut) => perform(deps, claimed, cut),
      onWork: (listener) => turns.onWork(listener),
      losesClaimsOnWork: true,
      what: 'messages of hooks',
      fields: ({ hook: { agentId: agent_id, id: hook_id } }) => ({ agent_id, hook_id }),
      log,
    });
    this.tidying = new Periodic({
      everyMs: bounds.tidyEveryMs,
      log,
      failed: 'old messages of hooks not deleted; it will be repeated',
      round: () => turns.tidy(bounds),
    });
  }

  start(): void {
    this.work.start();
    this.tidying.start();
  }

  async stop(): Promise<void> {
    await Promise.all([this.work.stop(), this.tidying.stop()]);
  }
}
