/** Bounds the bytes of connections that the host holds at once, and those that it searches over time. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Shares, TokenBuckets } from '@lodge/domain';
import type { Holder } from '@lodge/domain';
import type { ByteBounds } from './bounds.ts';

const waitMs = 50;

export class Budget {
  readonly held: Shares;
  readonly #ofAgents: TokenBuckets;
  readonly #ofAccounts: TokenBuckets;
  readonly #burst: number;

  constructor(bounds: ByteBounds) {
    const { heldBytesPerAgent, heldBytesPerAccount, heldBytes, requestBytes } = bounds;
    this.held = new Shares({
      perAgent: heldBytesPerAgent,
      perAccount: heldBytesPerAccount,
      inAll: heldBytes,
      few: requestBytes,
    });
    const { answerBytesPerSecond: perSecond } = bounds;
    this.#burst = burstSeconds * perSecond;
    this.#ofAgents = new TokenBuckets({ perSecond, burst: this.#burst });
    this.#ofAccounts = new TokenBuckets({ perSecond: 3 * perSecond, burst: 3 * this.#burst });
  }

  /**
   * Resolves when that much may be searched. A holder that had more than its share waits. Rejects when the signal aborts.
   */
  async pace({ agentId, accountId }: Holder, cost: number, signal: AbortSignal): Promise<void> {
    const amount = Math.min(cost, this.#burst);
    while (!this.#ofAgents.allows(agentId, performance.now(), amount)) await sleep(waitMs, undefined, { signal });
    while (!this.#ofAccounts.allows(accountId, performance.now(), amount)) await sleep(waitMs, undefined, { signal });
  }
}

const burstSeconds = 16;
