/**
 * Translates a message of WhatsApp for the relay. Everything in it was written by strangers: bounded, and never trusted to
 * be there.
 */
import { createHash } from 'node:crypto';
import { maxInboundChars } from '@lodge/ports';
import type { InboundMessage } from '@lodge/ports';
import { cut, plainName, textOf } from '../shared/plain.ts';
import { unwrapped } from './device/library.ts';
import type { Content, Envelope, Me } from './device/library.ts';
import { filesOf } from './media/inbound.ts';
import type { Refs } from './media/refs.ts';

/** The parts of a message that an answer to it needs. */
export interface Quoted {
  readonly id: string;
  readonly author: string;
  /** The beginning of its text, which phones show above the answer. */
  readonly text: string;
}

const maxQuotedChars = 300;
const maxJidChars = 100;

export interface Origin {
  readonly envelope: Envelope;
  /** The author's number, where it is known. */
  readonly number: string | null;
  /** The group's title, if it is known. */
  readonly title: string | null;
  readonly me: Me;
  readonly refs: Refs;
}

/** Null: nothing that a person wrote to the agent, such as a reaction, an edit or a change of settings. */
export function inboundOf(content: Content, origin: Origin): InboundMessage | null {
  const { envelope, number, title } = origin;
  const inner = unwrapped(content);
  if (!inner || envelope.chat.length > maxJidChars || envelope.author.length > maxJidChars) return null;
  const files = filesOf(inner, origin.refs);
  const { text, isMentioned } = addressedText(textIn(inner), inner, origin);
  if (text === '' && files.length === 0) return null;
  const quoted = { id: textOf(envelope.id), author: envelope.author, text: cut(text, maxQuotedChars) };
  return {
    id: idOf(envelope),
    conversation: {
      id: conversationOf(envelope, number),
      kind: envelope.isGroup ? 'group' : 'direct',
      title: title === null ? null : plainName(title, '') || null,
    },
    sender: {
      id: number === null ? envelope.author : `+${number}`,
      name: plainName(envelope.name, number === null ? 'unknown' : `+${number}`),
      isBot: false,
    },
    addressed: !envelope.isGroup || isMentioned || isAnswerTo(inner, origin.me),
    text: cut(text, maxInboundChars),
    sentAt: timeOf(envelope),
    files,
    replyTo: { ...quoted },
  };
}

/** A direct conversation is the same one whether the server names the person by number or not. */
export const conversationOf = ({ isGroup, chat, author }: Envelope, number: string | null): string => {
  if (isGroup) return chat;
  return number === null ? author : `${number}@s.whatsapp.net`;
};

/** The digits of a phone number's jid; null for any other jid. */
export function numberOf(jid: string | null): string | null {
  if (jid === null || !jid.endsWith('@s.whatsapp.net')) return null;
  const digits = userOf(jid);
  return /^\d{5,20}$/.test(digits) ? digits : null;
}

/** Without device and server. */
export const userOf = (jid: string): string => jid.slice(0, maxJidChars).split(/[:@]/, 1)[0] ?? '';

/** The sender's phone chose the id: of any length, and the same for two senders if they like. */
function idOf({ chat, author, id }: Envelope): string {
  const digest = createHash('sha256').update(id).digest('base64url');
  return `${userOf(chat)}/${userOf(author)}/${id.length > 0 && id.length <= 64 ? id : digest}`;
}

const timeOf = ({ sentAt }: Envelope): Date => (Number.isNaN(sentAt.getTime()) ? new Date() : sentAt);

function textIn(content: Content): string {
  const { location } = placesIn(content);
  const texts = [
    content.conversation,
    content.extendedTextMessage?.text,
    content.imageMessage?.caption,
    content.videoMessage?.caption,
    content.documentMessage?.caption,
    content.buttonsResponseMessage?.selectedDisplayText,
    content.listResponseMessage?.title,
    content.templateButtonReplyMessage?.selectedDisplayText,
    location,
  ];
  return texts.find((text): text is string => typeof text === 'string' && text !== '') ?? '';
}

function placesIn(content: Content): { location: string | null } {
  const place = content.locationMessage;
  if (!place || typeof place.degreesLatitude !== 'number' || typeof place.degreesLongitude !== 'number') {
    return { location: null };
  }
  const name = plainName(place.name, '');
  return { location: `Location: ${place.degreesLatitude}, ${place.degreesLongitude}${name && ` (${name})`}` };
}

/** Whether the agent is named in a group, and the text without its name at the beginning. */
function addressedText(text: string, content: Content, { me }: Origin): { text: string; isMentioned: boolean } {
  const own = [userOf(me.id), ...(me.lid ? [userOf(me.lid)] : [])];
  const mentioned = (contextOf(content)?.mentionedJid ?? []).slice(0, 1_000);
  if (!mentioned.some((jid) => own.includes(userOf(textOf(jid))))) return { text, isMentioned: false };
  for (const user of own) {
    if (text.startsWith(`@${user}`)) return { text: text.slice(user.length + 1).trimStart(), isMentioned: true };
  }
  return { text, isMentioned: true };
}

function isAnswerTo(content: Content, me: Me): boolean {
  const author = contextOf(content)?.participant;
  if (!author) return false;
  const user = userOf(textOf(author));
  return user === userOf(me.id) || (me.lid !== null && user === userOf(me.lid));
}

const contextOf = (content: Content) =>
  (
    content.extendedTextMessage ??
    content.imageMessage ??
    content.videoMessage ??
    content.documentMessage ??
    content.audioMessage
  )?.contextInfo;
