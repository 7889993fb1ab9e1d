/** The agent that calls, proved by its machine's address. */
export interface ToolGuest {
  readonly agentId: string;
  readonly accountId: string;
}
