import type { ClaimOptions, ClaimedHookMessage } from '@lodge/ports';
import { sql } from 'kysely';
import type { Transaction } from 'kysely';
import type { Schema } from '../database/schema.ts';
import { claimWork } from '../work/claim.ts';

type Facts = Pick<ClaimedHookMessage, 'event' | 'text' | 'isCut' | 'hook'> & { readonly receivedAt: string };

const facts = sql<Facts>`
  (
    select json_build_object(
      'event', m.event, 'text', m.text, 'isCut', m.is_cut, 'receivedAt', m.received_at,
      'hook', json_build_object('id', h.id, 'accountId', h.account_id, 'agentId', h.agent_id, 'name', h.name,
        'conversation', h.conversation, 'isSigned', h.signature is not null)
    )
    from hook_messages m join hooks h on h.id = m.hook_id where m.id = taken.id
  )
`;

export async function claimMessages(
  trx: Transaction<Schema>,
  options: ClaimOptions,
): Promise<readonly ClaimedHookMessage[]> {
  const claimed = await claimWork(trx, 'message', options, facts);
  return claimed.map(({ id, claim, attempts, may_have_acted: mayHaveActed, facts: { receivedAt, ...message } }) => ({
    id,
    claim,
    attempts,
    mayHaveActed,
    ...message,
    receivedAt: new Date(receivedAt),
  }));
}
