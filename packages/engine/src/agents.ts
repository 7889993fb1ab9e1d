import type { Lifecycle, RuntimeKind, SizeName } from '@lodge/domain';
import type { AgentFilter, AgentRow, ChatEndpoint, Provider } from './ports/index.ts';

/** A create as the API took it: checked against the schema, defaults not yet filled in. */
export interface CreateAgentInput {
  readonly name: string;
  readonly model?: string;
  readonly description?: string | null;
  readonly llmKeys: readonly { readonly provider: string; readonly apiKey: string }[];
  readonly runtimeKind: RuntimeKind;
  readonly size: SizeName;
  readonly lifecycle: Lifecycle;
  readonly metadata: Readonly<Record<string, string>>;
}

/** Why the engine refuses. The HTTP layer maps each code to the contract's status and type. */
export type RefusalCode =
  | 'invalid_request'
  | 'agent_not_found'
  | 'agent_not_running'
  | 'insufficient_capacity'
  | 'quota_exceeded'
  | 'provisioning_failed';

/** A refusal with a public message. `agentId` is set where a record exists that the client should know of; `field` where one field is at fault. */
export class Refusal extends Error {
  readonly code: RefusalCode;
  readonly agentId: string | undefined;
  constructor(code: RefusalCode, message: string, agentId?: string) {
    super(message);
    this.name = 'Refusal';
    this.code = code;
    this.agentId = agentId;
  }
}

/** The use-cases the API calls. */
export interface Agents {
  /** Checks model, providers, keys and capacity, writes the agent and returns it in `provisioning`. */
  create(accountId: string, input: CreateAgentInput): Promise<AgentRow>;
  /** Waits until the agent's status is `running` or `error`, it is deleted (null), or `timeoutMs` passed (the row as it is then). */
  awaitSettled(accountId: string, id: string, timeoutMs: number, signal: AbortSignal): Promise<AgentRow | null>;
  get(accountId: string, id: string): Promise<AgentRow>;
  list(filter: AgentFilter): Promise<{ readonly rows: readonly AgentRow[]; readonly nextCursor: string | null }>;
  /** Resolves once nothing of the agent is left. */
  delete(accountId: string, id: string, signal: AbortSignal): Promise<void>;
  /** The chat endpoint of a running agent; refuses with `agent_not_running` otherwise. */
  chatEndpoint(accountId: string, id: string): Promise<ChatEndpoint>;
  /** Marks the agent as active now. */
  touch(id: string): void;
  readonly providers: readonly Provider[];
  /** Version of the runtime behind a kind, for the record; null when this deployment does not offer it. */
  runtimeOf(kind: RuntimeKind): { readonly name: string; readonly version: string } | null;
}
