import { Refusal } from '@lodge/domain';
import { findOwnAgent } from '@lodge/store/agents';
import type { AgentRow } from '@lodge/store/agents';
import type { Database } from '@lodge/store/database';

/** An agent that is being deleted is gone for the API. */
export function isThere(row: AgentRow | null): row is AgentRow {
  return row !== null && row.desired !== 'deleted';
}

export const notFound = (id: string): Refusal => new Refusal('agent_not_found', `No agent has the id ${id}.`);

/** Returns the account's agent; another account's agent counts as missing. */
export async function getAgent(
  { database }: { readonly database: Database },
  accountId: string,
  id: string,
): Promise<AgentRow> {
  const row = await findOwnAgent(database, accountId, id);
  if (!isThere(row)) throw notFound(id);
  return row;
}
