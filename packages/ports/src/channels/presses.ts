/**
 * Presses of choices. A message goes out with choices (`ChannelAnswer.choices`); a person presses one; the connection that is
 * held already hands the press to the engine in one transaction, and shows its sentence to the person alone.
 */
import type { ConversationKind } from '@lodge/domain';

/** A press as the platform reports it. The platform names the sender, so nobody can press for somebody else. */
export interface Press {
  /** As it was sent with the choice; the adapter passes on no other form (`isChoiceToken`). */
  readonly token: string;
  readonly sender: { readonly id: string; readonly name: string; readonly isBot: boolean };
  /** Where it was pressed, as in `InboundMessage`. */
  readonly conversation: { readonly id: string; readonly kind: ConversationKind };
  /** The message with the choices, by the platform's id, as `ChannelConnection.send` gave it. */
  readonly messageId: string;
}

export interface Pressed {
  /** A sentence for the person who pressed, at most 200 characters. Telegram shows no longer one. */
  readonly say: string;
  /** Whether the choices of the message are to be taken away now, as they lead to nothing any more. */
  readonly close: boolean;
}

/** The longest `say`. */
export const maxSayChars = 200;
