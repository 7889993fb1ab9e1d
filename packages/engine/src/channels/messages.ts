/** Messages that failed, and are tried again at their owner's wish. */
import { Refusal } from '@lodge/domain';
import type { MessageState } from '@lodge/domain';
import type { ActorNote } from '@lodge/ports';
import { lockMessage, selectMessage, sendAgain, turnAgain } from '@lodge/store/channels';
import type { ChannelMessage, MessagePlace } from '@lodge/store/channels';
import { notify } from '@lodge/store/database';
import type { Database } from '@lodge/store/database';
import { writeNote } from '@lodge/store/events';

/** No id of Lodge's is longer or has other characters. */
const idPattern = /^[\w-]{1,64}$/;

const isRetryable = (state: MessageState): boolean => state === 'failed' || state === 'unknown';

/**
 * Returns a message to the step where it failed: a new turn, or the unsent part of its answer. Refuses with
 * `message_not_found` or `message_not_retryable`.
 */
export async function retryMessage(database: Database, place: MessagePlace, note?: ActorNote): Promise<ChannelMessage> {
  const { messageId, agentId } = place;
  if (!idPattern.test(messageId)) throw notFound();
  return database.transaction(async (trx) => {
    const stuck = await lockMessage(trx, place);
    if (stuck === undefined) throw notFound();
    if (!isRetryable(stuck.state)) {
      throw new Refusal('message_not_retryable', 'Only a message in the state failed or unknown can be retried.');
    }
    if (stuck.answerId === null) await turnAgain(trx, messageId, stuck.conversation);
    else await sendAgain(trx, stuck.answerId);
    const message = await selectMessage(trx, messageId);
    await notify(trx, agentId, 'channel_work');
    const data = { channel: stuck.channel, message_id: messageId };
    await writeNote(trx, place, { type: 'message.retried', data }, note);
    return message;
  });
}

const notFound = (): Refusal => new Refusal('message_not_found', 'The agent has no such message.');
