import type { Json, OwnToolName, OwnTools, ToolArguments, ToolFields } from '@lodge/domain';
import type { ChannelFiles, ChannelStore, GuestFiles, Log, SpendStore, ToolSource } from '@lodge/ports';
import type { Agents, AskedTurn } from '../agents/agents.ts';
import type { RunTurn } from '../turns/run-turn.ts';
import type { ToolSchedules } from './schedule-tools.ts';
import type { ToolGuest } from './tool-guest.ts';

export interface AgentToolsDeps {
  readonly agents: Pick<Agents, 'get' | 'list' | 'use'>;
  readonly runTurn: RunTurn;
  readonly askedTurns: (agentId: string) => readonly AskedTurn[];
  readonly channels: Pick<ChannelStore, 'ofAgent' | 'sayable' | 'whyUnsayable' | 'queue'>;
  readonly files: ChannelFiles;
  readonly guestFiles: GuestFiles;
  readonly spend: Pick<SpendStore, 'ofAgent'>;
  /** Without them there are no tools for schedules. */
  readonly schedules?: ToolSchedules;
  /** Further tools, of other houses. */
  readonly sources?: readonly ToolSource[];
  readonly log: Log;
  readonly bounds?: Partial<AgentToolBounds>;
}

export interface AgentToolBounds {
  /** Of one question, its answer included. */
  readonly askMs: number;
  /** How long an agent that is asked may take to wake. */
  readonly wakeMs: number;
}

/** A guest's HTTP client waits for a reply for five minutes at most. */
export const defaultToolBounds: AgentToolBounds = { askMs: 4 * 60_000, wakeMs: 60_000 };

/** What a tool is called with. */
export interface ToolCall<Fields extends ToolFields> {
  readonly guest: ToolGuest;
  readonly args: ToolArguments<Fields>;
  readonly signal: AbortSignal;
}

/** Answers with what the agent is told. Rejects with a `Refusal`. */
export type Tool<Name extends OwnToolName> = (
  deps: AgentToolsDeps,
  call: ToolCall<OwnTools[Name]['fields']>,
) => Promise<Json>;
