/** How messages of channels end, and the event that tells of it. */
import type { Happening } from '../events/event.ts';
import type { ChannelName, MessageState } from './channel.ts';

/** The outcome of a turn. Those that are not `answered` have a sentence for the owner; their answer, if any, is still sent. */
export type TurnOutcome = 'answered' | 'failed' | 'refused';

/** The state of a turn's messages. With an answer they are answered once all of it is sent, without one at once. */
export const stateAfterTurn = (outcome: TurnOutcome, hasAnswer: boolean): TurnOutcome | 'received' =>
  outcome === 'answered' && hasAnswer ? 'received' : outcome;

interface EndedMessage {
  readonly id: string;
  readonly channel: ChannelName;
  readonly state: MessageState;
  readonly reason: string | null;
  /** Since its receipt. */
  readonly durationMs: number;
}

/** The event of a message that was answered or failed; null of any other. */
export function messageEnd({ id, channel, state, reason, durationMs }: EndedMessage): Happening | null {
  switch (state) {
    case 'answered': {
      const data = { channel, message_id: id, duration_ms: Math.max(0, Math.round(durationMs)) };
      return { type: 'message.answered', data };
    }
    case 'failed':
    case 'unknown':
      return {
        type: 'message.failed',
        data: { channel, message_id: id, state, reason: reason ?? 'The turn failed.' },
      };
    case 'received':
    case 'refused':
      return null;
  }
}
