import type { SizeName } from '@lodge/domain';
import type { LlmCall, SealedContent } from './llm.ts';

export const usageGroups = ['agent', 'model', 'provider'] as const;
export type UsageGroup = (typeof usageGroups)[number];

export interface UsageQuery {
  readonly accountId: string;
  /** This agent's alone, which may be deleted. */
  readonly agentId?: string;
  /** Where buckets begin and end, rising: `bounds[i]` up to `bounds[i + 1]` is bucket `i`. Two at least. */
  readonly bounds: readonly Date[];
  readonly groupBy: UsageGroup | null;
  /** Most records there may be: with more the answer is `too_many`. */
  readonly limit: number;
}

/** What was used; money is decimal USD, exact for model calls and to 12 places for machines. */
export interface UsageFigures {
  /** Model calls that went out. */
  readonly requests: number;
  /** Those of them that used tokens at no known price: nothing of them is in `llmUsd`. */
  readonly unpricedRequests: number;
  /** Those of them whose tokens are estimated. */
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
  /** CPU time that was really used. */
  readonly cpuSeconds: number;
  /** Of machines that run or are paused. */
  readonly memoryGbSeconds: number;
  readonly storageGbSeconds: number;
  readonly egressBytes: number;
  readonly computeUsd: string;
  readonly storageUsd: string;
  readonly totalUsd: string;
}

export interface UsageRecord extends UsageFigures {
  /** Which bucket. */
  readonly bucket: number;
  /** An agent's id, `<provider>/<model>` or a provider; null for what belongs to none of them, and without groups. */
  readonly group: string | null;
}

export interface UsageReport {
  /** In order of bucket and group. Without groups every bucket has one; with them those in which anything was used. */
  readonly records: readonly UsageRecord[];
  readonly totals: UsageFigures;
}

/** The operator's prices of machines of one size, decimal USD. */
export interface ComputePrice {
  /** An hour of running. */
  readonly running: string;
  /** An hour of being paused. */
  readonly paused: string;
  /** An hour of one gigabyte of disk, in every status. */
  readonly storage: string;
}
export type ComputePrices = Readonly<Record<SizeName, ComputePrice>>;

/** Counters of one execution of an agent's VM, as they stand. They never go down. */
export interface VmReading {
  readonly agentId: string;
  readonly executionId: string;
  readonly cpuSeconds: number;
  readonly egressBytes: number;
}

/** A metered call as it is listed. Fields that were not kept when it was made are null. */
export interface LlmCallRow extends Omit<LlmCall, 'durationMs' | 'api'> {
  readonly durationMs: number | null;
  readonly api: LlmCall['api'] | null;
}

/** A call with what was said in it, where that was kept and still is. */
export interface LlmCallDetail extends LlmCallRow {
  readonly content: SealedContent | null;
}

/** The place of a call in the list of its agent's: newest first, by the moment it began. */
export interface LlmCallPosition {
  readonly startedAt: Date;
  readonly id: string;
}

/** Bounds on what is kept of what was said in calls. */
export interface ContentBounds {
  readonly maxAgeMs: number;
  /** Of one account. */
  readonly maxBytes: number;
}

/** Bounds on the rows of one agent's calls. */
export interface CallBounds {
  readonly maxCalls: number;
  readonly maxAgeMs: number;
}

/** What agents used. The past of deleted agents is kept. */
export interface UsageStore {
  /** Sums of everything there is at one moment. `too_many`: records than `limit`. */
  report(query: UsageQuery): Promise<UsageReport | 'too_many'>;
  /** Whether the account has, or had, this agent. */
  knows(accountId: string, agentId: string): Promise<boolean>;
  /** Finished calls of an agent, newest first, behind `after`. */
  calls(agentId: string, limit: number, after: LlmCallPosition | null): Promise<readonly LlmCallRow[]>;
  /** One of them; null when the agent has no such call. */
  call(agentId: string, callId: string): Promise<LlmCallDetail | null>;
  /** Sets what machines cost from now on; what was used until now keeps its price. */
  setComputePrices(prices: ComputePrices): Promise<void>;
  /** Adds what the counters rose by since the last reading, once; nothing when the agent has another execution by now. */
  record(reading: VmReading): Promise<void>;
  /** Adds what has come to the sums that reports read from. Answers are the same before and after, and quicker. */
  sum(): Promise<void>;
  /** Deletes what was said in calls and is over the bounds, oldest first; where bytes are over, of the agent that has most. */
  forgetContents(bounds: ContentBounds): Promise<void>;
  /** Deletes rows of calls that are over the bounds, oldest first. Their figures stay in reports, by the quarter hour. */
  pruneCalls(bounds: CallBounds): Promise<void>;
}

/** Ends calls whose server died in their midst. */
export interface CallSweeper {
  /** Writes the row of each, once: `interrupted`, with its estimate. Calls of this process are not touched. Gives how many. */
  sweep(): Promise<number>;
}
