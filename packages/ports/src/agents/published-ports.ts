import type { ChangeNote } from '../events/change-note.ts';

/** A port of an agent's guest that is served under an address of its own. */
export interface AgentPortRow {
  readonly accountId: string;
  readonly agentId: string;
  readonly port: number;
  /** Anyone reaches it who knows its address. */
  readonly public: boolean;
  readonly createdAt: Date;
}

export type NewAgentPort = Omit<AgentPortRow, 'createdAt'>;

/** Published ports in the store. They end with their agent. */
export interface AgentPortStore {
  /** By number. */
  ofAgent(accountId: string, agentId: string): Promise<readonly AgentPortRow[]>;
  /** Whosever it is. */
  find(agentId: string, port: number): Promise<AgentPortRow | null>;
  /**
   * Publishes a port, or changes whether it is public. `full` when the agent has `most` others, `no_agent` when the account
   * has no such agent; nothing is written then.
   */
  publish(
    port: NewAgentPort,
    most: number,
    note?: ChangeNote,
  ): Promise<{ readonly row: AgentPortRow; readonly isNew: boolean } | 'full' | 'no_agent'>;
  /** False when it was not published. */
  unpublish(port: Omit<NewAgentPort, 'public'>, note?: ChangeNote): Promise<boolean>;
}
