/** The agent that calls, as its machine's address proves. */
export interface ToolGuest {
  readonly agentId: string;
  readonly accountId: string;
}
