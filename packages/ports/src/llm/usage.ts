import type { SizeName } from '@lodge/domain';
import type { LlmCall, SealedContent } from './llm.ts';

export const usageGroups = ['agent', 'model', 'provider'] as const;
export type UsageGroup = (typeof usageGroups)[number];

export interface UsageQuery {
  readonly accountId: string;
  /** Restricts the report to this agent, which may be deleted. */
  readonly agentId?: string;
  /** Rising boundaries of buckets, at least two: bucket `i` is from `bounds[i]` to `bounds[i + 1]`. */
  readonly bounds: readonly Date[];
  readonly groupBy: UsageGroup | null;
  /** Most records of an answer; with more it is `too_many`. */
  readonly limit: number;
}

/** Usage. Money is decimal USD, exact for model calls and to 12 places for machines. */
export interface UsageFigures {
  /** Model calls that went out. */
  readonly requests: number;
  /** Those requests that used tokens at no known price; `llmUsd` does not include them. */
  readonly unpricedRequests: number;
  /** Those requests whose tokens are estimated. */
  readonly estimatedRequests: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly llmUsd: string;
  readonly runningSeconds: number;
  readonly pausedSeconds: number;
  readonly stoppedSeconds: number;
  /** vCPUs the machine had, times the seconds it ran. */
  readonly vcpuSeconds: number;
  /** CPU time really used. */
  readonly cpuSeconds: number;
  /** Memory of machines that run or are paused. */
  readonly memoryGbSeconds: number;
  readonly storageGbSeconds: number;
  readonly egressBytes: number;
  readonly computeUsd: string;
  readonly storageUsd: string;
  readonly totalUsd: string;
}

export interface UsageRecord extends UsageFigures {
  /** Index of the bucket. */
  readonly bucket: number;
  /** An agent's id, `<provider>/<model>` or a provider. Null for usage that belongs to no group, and without groups. */
  readonly group: string | null;
}

export interface UsageReport {
  /** Records in order of bucket and group. Without groups every bucket has one; with groups only those with usage. */
  readonly records: readonly UsageRecord[];
  readonly totals: UsageFigures;
}

/** The operator's prices of one machine size, in decimal USD. */
export interface ComputePrice {
  /** Price of an hour of running. */
  readonly running: string;
  /** Price of an hour of being paused. */
  readonly paused: string;
  /** Price of an hour of one gigabyte of disk, in every status. */
  readonly storage: string;
}
export type ComputePrices = Readonly<Record<SizeName, ComputePrice>>;

/** Present counters of one execution of an agent's VM. They never decrease. */
export interface VmReading {
  readonly agentId: string;
  readonly executionId: string;
  readonly cpuSeconds: number;
  readonly egressBytes: number;
}

/** A listed metered call. Fields that were not recorded at its time are null. */
export interface LlmCallRow extends Omit<LlmCall, 'durationMs' | 'api'> {
  readonly durationMs: number | null;
  readonly api: LlmCall['api'] | null;
}

/** A call with its contents, if they were stored and still exist. */
export interface LlmCallDetail extends LlmCallRow {
  readonly content: SealedContent | null;
}

/** The position of a call in its agent's list, newest first by its start. */
export interface LlmCallPosition {
  readonly startedAt: Date;
  readonly id: string;
}

/** Bounds on the stored contents of calls. */
export interface ContentBounds {
  readonly maxAgeMs: number;
  /** Bytes of one account. */
  readonly maxBytes: number;
}

/** Bounds on the rows of one agent's calls. */
export interface CallBounds {
  readonly maxCalls: number;
  readonly maxAgeMs: number;
}

/** Usage of agents, for those who only read it. The past of deleted agents is kept. */
export interface UsageStore {
  /** Returns sums of all usage at one moment, or `too_many` when there are more records than `limit`. */
  report(query: UsageQuery): Promise<UsageReport | 'too_many'>;
  /** Whether the account has, or had, this agent. */
  knows(accountId: string, agentId: string): Promise<boolean>;
  /** Finished calls of an agent, newest first, behind `after`. */
  calls(agentId: string, limit: number, after: LlmCallPosition | null): Promise<readonly LlmCallRow[]>;
  /** Returns one call; null when the agent has no such call. */
  call(agentId: string, callId: string): Promise<LlmCallDetail | null>;
}

/** Ends calls whose server died during the call. */
export interface CallSweeper {
  /**
   * Writes the row of each such call once, `interrupted` and with its estimate, and returns their number. Calls of this
   * process are not touched.
   */
  sweep(): Promise<number>;
}
