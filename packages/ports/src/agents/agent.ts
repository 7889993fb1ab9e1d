export interface AgentMember {
  readonly name: string;
  /** The member's model; null for the agent's own. */
  readonly model: string | null;
  readonly instructions: string | null;
  readonly createdAt: Date;
}

export interface LlmKeyRow {
  readonly provider: string;
  /** See `llmKeyContext` and `SecretBox`. */
  readonly sealed: string;
  readonly last4: string;
  readonly createdAt: Date;
}
