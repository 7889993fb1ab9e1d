import type { SpendDefaults, SpendLimit, SpendStanding } from '@lodge/domain';
import type { CallRefusal, LlmCall } from './llm.ts';

/** The spending of an account and its limit. */
export interface AccountSpend {
  /** Its own limit, else the deployment's; null when there is none. */
  readonly limit: SpendLimit | null;
  /** Decimal USD of the ended calls in the UTC day and month of the given time. */
  readonly daySpentUsd: string;
  readonly monthSpentUsd: string;
}

/** The spending of an agent and its limits. */
export interface AgentSpend {
  /** Decimal USD of its ended calls in the UTC day and month of the given time. */
  readonly daySpentUsd: string;
  readonly monthSpentUsd: string;
  /** Each limit that applies to it: its own and its account's. */
  readonly limits: readonly SpendStanding[];
}

/** Spend limits, for reading. The call ledger keeps the amounts spent and reserved. */
export interface SpendStore {
  readonly defaults: SpendDefaults;
  /**
   * The reason why no message may wake the agent at that time, because a limit that puts it to sleep is reached. Null when
   * messages may wake it.
   */
  asleep(agentId: string, at: Date): Promise<CallRefusal | null>;
  /** Writes to the agent's log, once in each window, that this ended call used up a limit nearly or wholly. */
  note(call: LlmCall): Promise<void>;
  ofAgent(agentId: string, at: Date): Promise<AgentSpend>;
  ofAccount(accountId: string, at: Date): Promise<AccountSpend>;
}
