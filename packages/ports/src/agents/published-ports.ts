import type { ChangeNote } from '../events/change-note.ts';

/** A port of an agent's guest that is served under an address of its own. */
export interface AgentPortRow {
  readonly accountId: string;
  readonly agentId: string;
  readonly port: number;
  /** Whether anyone who knows its address may reach it. */
  readonly public: boolean;
  readonly createdAt: Date;
}

export type NewAgentPort = Omit<AgentPortRow, 'createdAt'>;

/** Published ports in the store. They end with their agent. */
export interface AgentPortStore {
  /** Returns the agent's ports by number. */
  ofAgent(accountId: string, agentId: string): Promise<readonly AgentPortRow[]>;
  /** Returns the port of any account. */
  find(agentId: string, port: number): Promise<AgentPortRow | null>;
  /**
   * Publishes a port, or changes whether it is public. Returns `full` when the agent has `most` other ports, and `no_agent`
   * when the account has no such agent; nothing is written then.
   */
  publish(
    port: NewAgentPort,
    most: number,
    note?: ChangeNote,
  ): Promise<{ readonly row: AgentPortRow; readonly isNew: boolean } | 'full' | 'no_agent'>;
  /** False when it was not published. */
  unpublish(port: Omit<NewAgentPort, 'public'>, note?: ChangeNote): Promise<boolean>;
}
