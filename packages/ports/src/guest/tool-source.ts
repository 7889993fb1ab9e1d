/** Tools that an agent has beside Lodge's own. */
import type { Json } from '@lodge/domain';

export interface OfferedTool {
  /** Unique among the agent's tools: letters, digits, `_` and `-`, at most 64. */
  readonly name: string;
  /** Somebody else's text, bounded. */
  readonly description: string;
  /** JSON Schema of an object, bounded. */
  readonly inputSchema: Json;
}

/** As a tool of the Model Context Protocol answers: blocks of content, bounded. */
export interface ToolAnswer {
  readonly content: readonly Json[];
  readonly isError: boolean;
}

export interface ToolSource {
  /** Never rejects: a source that does not answer has no tools for now. */
  tools(agentId: string, signal: AbortSignal): Promise<readonly OfferedTool[]>;
  /** Null: it has no such tool. */
  call(agentId: string, name: string, args: Json, signal: AbortSignal): Promise<ToolAnswer | null>;
}
