/** An answer as WhatsApp's message. */
import type { Json } from '@lodge/domain';
import type { SendTarget } from '@lodge/ports';
import type { Content } from './device/library.ts';
import type { Quoted } from './message.ts';

/** In groups its first part shows what it answers. No preview of a link is made: that would fetch what the agent names. */
export function answerOf(text: string, to: SendTarget): Content {
  const quoted = to.conversationKind === 'group' && to.index === 0 ? quotedIn(to.replyTo) : null;
  if (!quoted) return { extendedTextMessage: { text } };
  const contextInfo = {
    stanzaId: quoted.id,
    participant: quoted.author,
    quotedMessage: { conversation: quoted.text },
  };
  return { extendedTextMessage: { text, contextInfo } };
}

function quotedIn(replyTo: Json | null): Quoted | null {
  if (typeof replyTo !== 'object' || replyTo === null || Array.isArray(replyTo)) return null;
  const { id, author, text } = replyTo as Record<string, Json>;
  if (typeof id !== 'string' || typeof author !== 'string' || typeof text !== 'string') return null;
  return { id, author, text };
}
