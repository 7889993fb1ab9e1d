import type { SpendDefaults, SpendLimit, SpendStanding } from '@lodge/domain';
import type { CallRefusal, LlmCall } from './llm.ts';

/** How an account stands with what it may spend. */
export interface AccountSpend {
  /** Its own limit, else the deployment's; null: it has none. */
  readonly limit: SpendLimit | null;
  /** Decimal USD of the calls that have ended, in the UTC day and month of the time asked for. */
  readonly daySpentUsd: string;
  readonly monthSpentUsd: string;
}

/** How an agent stands with what it may spend. */
export interface AgentSpend {
  /** Decimal USD of its calls that have ended, in the UTC day and month of the time asked for. */
  readonly daySpentUsd: string;
  readonly monthSpentUsd: string;
  /** Each limit that holds for it: its own and its account's. */
  readonly limits: readonly SpendStanding[];
}

/** Spend limits, read. What has been spent and what is under way is kept by the call ledger. */
export interface SpendStore {
  readonly defaults: SpendDefaults;
  /** Why no message may wake the agent at that time: a limit that puts it to sleep is reached. Null when one may. */
  asleep(agentId: string, at: Date): Promise<CallRefusal | null>;
  /** Says in the agent's log, once for each window, that a limit is nearly or wholly used up by this call that has ended. */
  note(call: LlmCall): Promise<void>;
  ofAgent(agentId: string, at: Date): Promise<AgentSpend>;
  ofAccount(accountId: string, at: Date): Promise<AccountSpend>;
}
