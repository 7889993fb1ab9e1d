/** Messages whose turn or answer has ended. */
import { messageEnd } from '@lodge/domain';
import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import type { Transaction } from '../database/database.ts';
import type { ChannelMessages } from '../database/tables.ts';
import { appendEvents } from '../events/append.ts';

/** Columns of messages in the row that a statement returns of one that it wrote. */
export const ended = sql`
  id, account_id, agent_id, channel, state, reason,
  (extract(epoch from clock_timestamp() - received_at) * 1000)::float8 as duration_ms
`;

export type Ended = Pick<
  Selectable<ChannelMessages>,
  'id' | 'accountId' | 'agentId' | 'channel' | 'state' | 'reason'
> & { readonly durationMs: number };

/** Writes the events of messages of one account that have ended. Call it last. */
export const appendEnds = (trx: Transaction, messages: readonly Ended[]): Promise<void> =>
  appendEvents(
    trx,
    messages.flatMap((message) => {
      const event = messageEnd(message);
      const { accountId, agentId } = message;
      return event === null ? [] : [{ ...event, accountId, agentId, by: null }];
    }),
  );
