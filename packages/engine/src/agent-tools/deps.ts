import type { Json, OwnToolName, OwnTools, ToolArguments, ToolFields } from '@lodge/domain';
import type { ChannelFiles, GuestFiles, Log, ToolSource } from '@lodge/ports';
import type { Database } from '@lodge/store/database';
import type { Agents, AskedTurn } from '../agents/agents.ts';
import type { Asking } from '../confirmations/asking.ts';
import type { Spend } from '../spend/spend.ts';
import type { RunTurn } from '../turns/run-turn.ts';
import type { ToolSchedules } from './schedule-tools.ts';
import type { ToolGuest } from './tool-guest.ts';

export interface AgentToolsDeps {
  readonly agents: Pick<Agents, 'get' | 'list' | 'use'>;
  readonly runTurn: RunTurn;
  readonly askedTurns: (agentId: string) => readonly AskedTurn[];
  readonly database: Database;
  readonly files: ChannelFiles;
  readonly guestFiles: GuestFiles;
  readonly spend: Pick<Spend, 'ofAgent'>;
  /** Without them the agent has no tools for schedules. */
  readonly schedules?: ToolSchedules;
  /** Tools of further sources. */
  readonly sources?: readonly ToolSource[];
  /** Asks the owner. Without it calls whose policy says so are refused, and the agent has no tool for questions. */
  readonly guard?: Asking;
  /** The origin of the dashboard, for links in questions. */
  readonly dashboardUrl: string;
  readonly log: Log;
  readonly bounds?: Partial<AgentToolBounds>;
}

export interface AgentToolBounds {
  /** Bound on one question with its answer. */
  readonly askMs: number;
  /** Bound on the wait until an asked agent is awake. */
  readonly wakeMs: number;
}

/** Default bounds. A guest's HTTP client waits for a reply for five minutes at most. */
export const defaultToolBounds: AgentToolBounds = { askMs: 4 * 60_000, wakeMs: 60_000 };

/** The arguments of one call of a tool. */
export interface ToolCall<Fields extends ToolFields> {
  readonly guest: ToolGuest;
  readonly args: ToolArguments<Fields>;
  readonly signal: AbortSignal;
}

/** Returns the answer for the agent. Rejects with a `Refusal`. */
export type Tool<Name extends OwnToolName> = (
  deps: AgentToolsDeps,
  call: ToolCall<OwnTools[Name]['fields']>,
) => Promise<Json>;
