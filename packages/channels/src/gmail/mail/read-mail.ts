/** A mail as the Gmail API gives it, read: the answer of `messages.get` with `format=raw`. Runs in the mail thread. */
import PostalMime from 'postal-mime';
import type { Attachment, Email } from 'postal-mime';
import { boundedJson, commandIn } from '@lodge/domain';
import { maxInboundChars, maxInboundFiles } from '@lodge/ports';
import { cut, fileName, idOf, plainName, textOf } from '../../shared/plain.ts';
import { automaticReason } from './automatic.ts';
import type { SkipReason } from './automatic.ts';
import { htmlText } from './html-text.ts';
import { ownWords } from './own-words.ts';
import { isProved, writtenSender } from './sender.ts';
import type { Sender } from './sender.ts';

/** Of the answer: Gmail takes in mail of 50 MiB, which is 67 MiB in base64. */
export const maxAnswerBytes = 72 * 1024 * 1024;
const answerBounds = { bytes: maxAnswerBytes, depth: 4, elements: 1_000 };
const mimeBounds = { maxNestingDepth: 32, maxHeadersSize: 512 * 1024, forceRfc822Attachments: true };
/** Of a text before the quotes are cut. */
const maxTextChars = 4 * maxInboundChars;
/** Pictures of signatures, and pixels that count readers. */
const minInlineBytes = 4 * 1024;
const maxIdChars = 250;
const maxReferences = 10;
const maxSubjectChars = 300;

export interface ReadFile {
  /** Among the parts of the mail that are files. */
  readonly index: number;
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: number;
}

export interface ReadMail {
  readonly id: string;
  readonly threadId: string;
  readonly sender: Sender;
  readonly subject: string;
  readonly text: string;
  readonly sentAtMs: number;
  readonly files: readonly ReadFile[];
  /** What an answer names, oldest first: the ids of mails before, and its own. */
  readonly references: readonly string[];
}

export type MailReading =
  | { readonly mail: ReadMail }
  | { readonly skipped: SkipReason }
  | { readonly skipped: 'unreadable' };

const skippedLabels = ['SENT', 'DRAFT', 'SPAM', 'TRASH'];

/** Throws for an answer that is none of Gmail's, and for a mail beyond the bounds. */
export async function readMail(answer: Uint8Array, mailbox: string): Promise<MailReading> {
  const { id, threadId, labels, sentAtMs, raw } = fieldsOf(answer);
  if (labels.some((label) => skippedLabels.includes(label))) return { skipped: 'own' };
  // The header alone is quickly read. Most mail that is not for the agent ends here.
  const head = await PostalMime.parse(headerOf(raw), mimeBounds);
  const sender = writtenSender(head.headers);
  if (sender === null) return { skipped: 'no_sender' };
  const reason = automaticReason(head.headers, sender, mailbox);
  if (reason !== null) return { skipped: reason };
  if (!isProved(head.headers, sender)) return { skipped: 'unproved' };
  const email = await PostalMime.parse(raw, mimeBounds);
  const subject = plainName(head.subject, '', maxSubjectChars);
  const references = referencesOf(head);
  const text = textOfMail(email, subject, references.isAnswer);
  return { mail: { id, threadId, sender, subject, text, sentAtMs, files: filesOf(email), references: references.ids } };
}

/** The bytes of one file of a mail; null where it has none of this index. */
export async function fileOfMail(answer: Uint8Array, index: number): Promise<Uint8Array | null> {
  const email = await PostalMime.parse(fieldsOf(answer).raw, mimeBounds);
  const content = email.attachments[index]?.content;
  return content === undefined || typeof content === 'string' ? null : new Uint8Array(content);
}

function fieldsOf(answer: Uint8Array) {
  const fields = boundedJson(answer, answerBounds) as Record<string, unknown> | null;
  const id = idOf(fields?.['id'], 32);
  const threadId = idOf(fields?.['threadId'], 32);
  const raw = fields?.['raw'];
  if (id === null || threadId === null || typeof raw !== 'string') throw new Error('no mail of Gmail');
  const labels = fields?.['labelIds'];
  const sentAtMs = Number(fields?.['internalDate']);
  return {
    id,
    threadId,
    labels: Array.isArray(labels) ? labels.map((label) => textOf(label)) : [],
    sentAtMs: Number.isSafeInteger(sentAtMs) && sentAtMs > 0 ? sentAtMs : Date.now(),
    raw: Buffer.from(raw, 'base64url'),
  };
}

/** Up to the first empty line. */
function headerOf(raw: Buffer): Buffer {
  const ends = ['\r\n\r\n', '\n\n'].map((end) => raw.indexOf(end)).filter((at) => at !== -1);
  return raw.subarray(0, Math.min(raw.length, ...ends));
}

function referencesOf(email: Email): { readonly ids: readonly string[]; readonly isAnswer: boolean } {
  const before = [...idsIn(email.references), ...idsIn(email.inReplyTo)];
  const subject = textOf(email.subject).trimStart().toLowerCase();
  const isForward = ['fwd:', 'fw:', 'wg:', 'tr:', 'rv:', 'i:', 'doorst:'].some((word) => subject.startsWith(word));
  const ids = [...new Set([...before, ...idsIn(email.messageId)])];
  // The first one is the thread's.
  const kept = ids.length > maxReferences ? [ids[0]!, ...ids.slice(1 - maxReferences)] : ids;
  return { ids: kept, isAnswer: before.length > 0 && !isForward };
}

/** Message ids: no character in them ends a header or an id. */
const idsIn = (field: string | undefined): string[] =>
  (field ?? '')
    .slice(0, 32 * 1024)
    .split(/\s+/)
    .filter((id) => id.length <= maxIdChars && /^<[\u0021-\u003b\u003d\u003f-\u007e]+>$/.test(id));

/** The subject goes before the words of a mail that begins a thread: it is often half of the question. */
function textOfMail(email: Email, subject: string, isAnswer: boolean): string {
  const plain = cut(email.text ?? '', maxTextChars);
  const written = plain.trim() === '' ? htmlText(cut(email.html ?? '', maxTextChars)) : plain;
  const own = ownWords(written, isAnswer);
  const isHeaded = subject !== '' && !isAnswer && commandIn(own) === null;
  return cut(isHeaded ? `Subject: ${subject}\n\n${own}`.trimEnd() : own, maxInboundChars);
}

const filesOf = (email: Email): ReadFile[] =>
  email.attachments
    .map((attachment, index) => ({ attachment, index, bytes: sizeOf(attachment) }))
    .filter(({ attachment, bytes }) => attachment.related !== true || bytes >= minInlineBytes)
    .slice(0, maxInboundFiles)
    .map(({ attachment, index, bytes }) => ({
      index,
      name: fileName(attachment.filename, `file-${index + 1}`),
      mediaType: plainName(attachment.mimeType, 'application/octet-stream', 100),
      bytes,
    }));

const sizeOf = ({ content }: Attachment): number => (typeof content === 'string' ? content.length : content.byteLength);
