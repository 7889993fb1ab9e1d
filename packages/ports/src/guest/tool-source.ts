/** A tool that an agent has beside Lodge's own. */
import type { Json } from '@lodge/domain';
import type { GuardedCaller } from '../confirmations/call-guard.ts';

export interface OfferedTool {
  /** Unique among the agent's tools: letters, digits, `_` and `-`, at most 64. */
  readonly name: string;
  /** Somebody else's text, of bounded length. */
  readonly description: string;
  /** JSON Schema of an object, of bounded size. */
  readonly inputSchema: Json;
}

/** The answer of a tool of the Model Context Protocol: blocks of content, of bounded size. */
export interface ToolAnswer {
  readonly content: readonly Json[];
  readonly isError: boolean;
}

export interface ToolSource {
  /** Returns the agent's tools. Never rejects: a source that does not answer has no tools for now. */
  tools(agentId: string, signal: AbortSignal): Promise<readonly OfferedTool[]>;
  /** Calls a tool. Returns null when there is no such tool. */
  call(caller: GuardedCaller, name: string, args: Json, signal: AbortSignal): Promise<ToolAnswer | null>;
}
