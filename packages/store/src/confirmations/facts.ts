import { sql } from 'kysely';

/** A claimed confirmation. Its status may have changed since the claim. */
export interface ConfirmationFacts {
  readonly id: string;
  readonly accountId: string;
  readonly agentId: string;
  readonly conversation: string | null;
  readonly member: string | null;
}

export const confirmationFacts = sql<ConfirmationFacts>`
  (
    select json_build_object('id', c.id, 'accountId', c.account_id, 'agentId', c.agent_id, 'conversation', c.conversation,
      'member', c.member)
    from confirmations c where c.id = taken.id
  )
`;
