/** The field `confirmations` of an agent, as far as it names what else the agent has. */
import { Refusal, checkConfirmations, connectionOfRule } from '@lodge/domain';
import type { Confirmations } from '@lodge/domain';
import { connectionsOf } from '@lodge/store/connections';
import type { Database } from '@lodge/store/database';
import { unsayable, whyUnsayable } from '../channels/conversations.ts';

interface Of {
  readonly accountId: string;
  readonly agentId: string;
}

/** Refuses a rule for a connection that is not there, and a conversation that nobody wrote in. */
export async function checkConfirmationField(
  database: Database,
  of: Of,
  given: Confirmations,
  before: Confirmations | null,
): Promise<void> {
  checkConfirmations(given);
  const known = new Set(before?.rules.map(({ on }) => on));
  const named = given.rules.map(({ on }, index) => ({ on, index, connection: connectionOfRule(on) }));
  const asked = named.filter(({ on, connection }) => connection !== null && !known.has(on));
  await database.transaction(async (trx) => {
    const there = asked.length === 0 ? [] : await connectionsOf(trx, of.accountId, of.agentId);
    const missing = asked.find(({ connection }) => !there.some(({ name }) => name === connection));
    if (missing !== undefined) {
      throw new Refusal(
        'invalid_request',
        `confirmations.rules[${missing.index}].on: the agent has no connection ${missing.connection}.`,
      );
    }
    for (const [index, { channel, conversation: conversationId }] of given.deliver.entries()) {
      const why = await whyUnsayable(trx, { ...of, channel, conversationId });
      if (why !== null) throw unsayable(`confirmations.deliver[${index}].conversation`, why);
    }
  });
}
