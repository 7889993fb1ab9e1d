import type { GuestAddress } from '@lodge/ports';
import type { Agents, LiveAgent, UseOptions } from '../../agents/agents.ts';

/** The guest of an agent for a turn with files: awake from the first request until `release`. */
export class GuestLoan {
  private readonly use: () => Promise<LiveAgent>;
  private live: Promise<LiveAgent> | null = null;

  constructor(
    agents: Pick<Agents, 'use'>,
    agent: { readonly accountId: string; readonly agentId: string },
    options: UseOptions,
  ) {
    this.use = () => agents.use(agent.accountId, agent.agentId, options);
  }

  /** Returns the guest. Rejects with a `Refusal`. */
  async guest(): Promise<GuestAddress> {
    return (await (this.live ??= this.use())).guest;
  }

  release(): void {
    this.live?.then(
      (live) => live.release(),
      () => undefined,
    );
  }
}
