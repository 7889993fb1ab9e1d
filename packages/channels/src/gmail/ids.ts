/** The names of a conversation, an answer and a file between the relay and this adapter. */
import { isJsonObject } from '@lodge/domain';
import type { Json } from '@lodge/domain';
import { isMessageId } from './api/gmail-api.ts';
import { isAddress } from './mail/sender.ts';

/**
 * A thread with one person. The address is a part of it: a person who knows the id of a mail can write into its thread, and
 * must not receive there the agent's words to another person.
 */
export interface Conversation {
  readonly threadId: string;
  readonly address: string;
}

export const conversationId = ({ threadId, address }: Conversation): string => `${threadId}/${address}`;

/** Null: no adapter of this platform has made it. */
export function conversationOf(id: string): Conversation | null {
  const slash = id.indexOf('/');
  const threadId = id.slice(0, Math.max(0, slash));
  const address = id.slice(slash + 1);
  return isMessageId(threadId) && isAddress(address) ? { threadId, address } : null;
}

/** An answer's references to the mail that it answers. */
export interface Answered {
  /** Gmail's id of the mail; null: it answers none. */
  readonly mail: string | null;
  readonly subject: string;
  /** Message ids, oldest first; the last one is answered. */
  readonly references: readonly string[];
}

export const answeredJson = ({ mail, subject, references }: Answered): Json => ({
  mail,
  subject,
  references: [...references],
});

export function answeredOf(replyTo: Json | null): Answered | null {
  if (!isJsonObject(replyTo)) return null;
  const { mail, subject, references } = replyTo as Record<string, Json | undefined>;
  if (typeof mail !== 'string' || !isMessageId(mail) || typeof subject !== 'string' || !Array.isArray(references))
    return null;
  return { mail, subject, references: references.filter((id) => typeof id === 'string') };
}

export const fileRef = (mail: string, index: number): string => `${mail}/${index}`;

export function fileOf(ref: string): { readonly mail: string; readonly index: number } | null {
  const [mail = '', index = '', ...more] = ref.split('/', 3);
  return isMessageId(mail) && /^\d{1,4}$/.test(index) && more.length === 0 ? { mail, index: Number(index) } : null;
}
