import { sql } from 'kysely';

/** A claimed message, for the prompt of its turn. */
export interface MessageFacts {
  readonly event: string | null;
  readonly text: string;
  readonly isCut: boolean;
  /** A time, as JSON has it. */
  readonly receivedAt: string;
  readonly hook: {
    readonly id: string;
    readonly accountId: string;
    readonly agentId: string;
    readonly name: string;
    /** The agent's conversation; null for one of the hook's own. */
    readonly conversation: string | null;
    readonly isSigned: boolean;
  };
}

export const messageFacts = sql<MessageFacts>`
  (
    select json_build_object(
      'event', m.event, 'text', m.text, 'isCut', m.is_cut, 'receivedAt', m.received_at,
      'hook', json_build_object('id', h.id, 'accountId', h.account_id, 'agentId', h.agent_id, 'name', h.name,
        'conversation', h.conversation, 'isSigned', h.signature is not null)
    )
    from hook_messages m join hooks h on h.id = m.hook_id where m.id = taken.id
  )
`;
