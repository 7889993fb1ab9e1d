/**
 * A mail as the Gmail API gives it, read: the answers of `messages.get` with `format=metadata` and with `format=raw`. Runs in the
 * mail thread.
 */
import { decodeWords } from 'postal-mime';
import type { Attachment, Email } from 'postal-mime';
import { boundedJson, commandIn } from '@lodge/domain';
import { maxInboundChars, maxInboundFiles } from '@lodge/ports';
import { cut, fileName, idOf, plainName, textOf } from '../../shared/plain.ts';
import { automaticReason } from './automatic.ts';
import type { SkipReason } from './automatic.ts';
import { ownWords } from './own-words.ts';
import { boundedMime } from './mime-bounds.ts';
import { parseMime } from './mime-parser.ts';
import { isProved, writtenSender } from './sender.ts';
import type { Header, Sender } from './sender.ts';

/** Bound on the answer: Gmail accepts mail of 50 MiB, which is 67 MiB in base64. */
export const maxAnswerBytes = 72 * 1024 * 1024;
const answerBounds = { bytes: maxAnswerBytes, depth: 4, elements: 1_000 };
/** Bound on the answer about the header alone. */
export const maxHeadBytes = 1024 * 1024;
const headBounds = { bytes: maxHeadBytes, depth: 6, elements: 20_000 };
const maxHeaders = 5_000;
/** Bounds on the source of a mail's text, and on a file that is not in base64. */
const readBounds = { textBytes: 1024 * 1024, textLines: 20_000 };
const fileBounds = { textBytes: 32 * 1024 * 1024, textLines: 400_000 };
/** Bound on a text before the quotes are cut. */
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
  /** Null: parts of the mail were left out, so that nobody knows. */
  readonly bytes: number | null;
}

/** The facts of a mail's header. */
export interface MailHead {
  readonly id: string;
  readonly threadId: string;
  readonly sender: Sender;
  readonly subject: string;
  /** References of an answer, oldest first: the ids of earlier mails, and its own. */
  readonly references: readonly string[];
  readonly sentAtMs: number;
}

export interface ReadMail extends MailHead {
  readonly text: string;
  readonly files: readonly ReadFile[];
}

export type Skipped = { readonly skipped: SkipReason };
export type HeadReading = { readonly head: MailHead } | Skipped;
export type MailReading = { readonly mail: ReadMail } | Skipped;

const skippedLabels = ['SENT', 'DRAFT', 'SPAM', 'TRASH'];

/** Reads what the answer with `format=metadata` says. Throws for an answer that is none of Gmail's. */
export function readHead(answer: Uint8Array, mailbox: string): HeadReading {
  const fields = fieldsOf(answer, headBounds);
  const payload = fields.record['payload'] as { readonly headers?: unknown } | null | undefined;
  const given = payload?.headers;
  if (!Array.isArray(given) || given.length > maxHeaders) throw new Error('no header of a mail of Gmail');
  const headers = given.map((each: { readonly name?: unknown; readonly value?: unknown } | null) => ({
    key: textOf(each?.name).toLowerCase(),
    // Folded lines are one line, as in a mail that was parsed.
    value: textOf(each?.value, maxHeadBytes)
      .replaceAll(/\r?\n(?=[ \t])/g, '')
      .replaceAll(/[\r\n]+/g, ' ')
      .trim(),
  }));
  const sender = senderOf(fields.labels, headers, mailbox);
  if ('skipped' in sender) return sender;
  return { head: headOf(fields, headers, sender).head };
}

/** Reads what the answer with `format=raw` says. Throws for an answer that is none of Gmail's, and for a mail beyond the bounds. */
export async function readMail(answer: Uint8Array, mailbox: string): Promise<MailReading> {
  const fields = fieldsOf(answer, answerBounds);
  const raw = rawOf(fields);
  const head = await parseMime(headerOf(raw), 0);
  const sender = senderOf(fields.labels, head.headers, mailbox);
  if ('skipped' in sender) return sender;
  const { bytes, isCut } = boundedMime(raw, readBounds);
  const email = await parseMime(bytes, maxTextChars);
  const known = headOf(fields, head.headers, sender);
  const text = textOfMail(email, known.head.subject, known.isAnswer);
  return { mail: { ...known.head, text, files: filesOf(email, isCut) } };
}

function headOf(
  { id, threadId, sentAtMs }: Fields,
  headers: readonly Header[],
  sender: Sender,
): { readonly head: MailHead; readonly isAnswer: boolean } {
  const subject = plainName(decodeWords(fieldIn(headers, 'subject')), '', maxSubjectChars);
  const { ids, isAnswer } = referencesOf(headers, subject);
  return { head: { id, threadId, sender, subject, sentAtMs, references: ids }, isAnswer };
}

const fieldIn = (headers: readonly Header[], name: string): string =>
  headers.find(({ key }) => key === name)?.value ?? '';

/** The mail's sender, if Google proved it and somebody waits for an answer. */
function senderOf(labels: readonly string[], headers: readonly Header[], mailbox: string): Sender | Skipped {
  if (labels.some((label) => skippedLabels.includes(label))) return { skipped: 'own' };
  const sender = writtenSender(headers);
  if (sender === null) return { skipped: 'no_sender' };
  const reason = automaticReason(headers, sender, mailbox);
  if (reason !== null) return { skipped: reason };
  return isProved(headers, sender) ? sender : { skipped: 'unproved' };
}

/** The bytes of one file of a mail; null where it has none of this index. */
export async function fileOfMail(answer: Uint8Array, index: number): Promise<Uint8Array | null> {
  const { bytes } = boundedMime(rawOf(fieldsOf(answer, answerBounds)), fileBounds);
  const email = await parseMime(bytes, 0);
  const content = email.attachments[index]?.content;
  return content === undefined || typeof content === 'string' ? null : new Uint8Array(content);
}

interface Fields extends Pick<MailHead, 'id' | 'threadId' | 'sentAtMs'> {
  readonly labels: readonly string[];
  readonly record: Readonly<Record<string, unknown>>;
}

function fieldsOf(answer: Uint8Array, bounds: typeof answerBounds): Fields {
  const record = boundedJson(answer, bounds) as Record<string, unknown> | null;
  const id = idOf(record?.['id'], 32);
  const threadId = idOf(record?.['threadId'], 32);
  if (record === null || id === null || threadId === null) throw new Error('no mail of Gmail');
  const labels = record['labelIds'];
  const sentAtMs = Number(record['internalDate']);
  return {
    id,
    threadId,
    labels: Array.isArray(labels) ? labels.map((label) => textOf(label)) : [],
    sentAtMs: Number.isSafeInteger(sentAtMs) && sentAtMs > 0 ? sentAtMs : Date.now(),
    record,
  };
}

function rawOf({ record }: Fields): Buffer {
  const { raw } = record;
  if (typeof raw !== 'string') throw new Error('no mail of Gmail');
  return Buffer.from(raw, 'base64url');
}

/** Up to the first empty line. */
function headerOf(raw: Buffer): Buffer {
  const ends = ['\r\n\r\n', '\n\n'].map((end) => raw.indexOf(end)).filter((at) => at !== -1);
  return raw.subarray(0, Math.min(raw.length, ...ends));
}

function referencesOf(
  headers: readonly Header[],
  subject: string,
): { readonly ids: readonly string[]; readonly isAnswer: boolean } {
  const before = ['references', 'in-reply-to'].flatMap((name) => idsIn(fieldIn(headers, name)));
  const words = subject.toLowerCase();
  const isForward = ['fwd:', 'fw:', 'wg:', 'tr:', 'rv:', 'i:', 'doorst:'].some((word) => words.startsWith(word));
  const ids = [...new Set([...before, ...idsIn(fieldIn(headers, 'message-id'))])];
  // The first one is the thread's.
  const kept = ids.length > maxReferences ? [ids[0]!, ...ids.slice(1 - maxReferences)] : ids;
  return { ids: kept, isAnswer: before.length > 0 && !isForward };
}

/** Message ids: no character in them ends a header or an id. */
const idsIn = (field: string): string[] =>
  field
    .slice(0, 32 * 1024)
    .split(/\s+/)
    .filter((id) => id.length <= maxIdChars && /^<[\u0021-\u003b\u003d\u003f-\u007e]+>$/.test(id));

/** The subject goes before the words of a mail that begins a thread: it is often half of the question. */
function textOfMail(email: Email, subject: string, isAnswer: boolean): string {
  const own = ownWords(email.text ?? '', isAnswer);
  const isHeaded = subject !== '' && !isAnswer && commandIn(own) === null;
  return cut(isHeaded ? `Subject: ${subject}\n\n${own}`.trimEnd() : own, maxInboundChars);
}

const filesOf = (email: Email, isCut: boolean): ReadFile[] =>
  email.attachments
    .map((attachment, index) => ({ attachment, index, bytes: sizeOf(attachment) }))
    .filter(({ attachment, bytes }) => attachment.related !== true || bytes >= minInlineBytes)
    .slice(0, maxInboundFiles)
    .map(({ attachment, index, bytes }) => ({
      index,
      name: fileName(attachment.filename, `file-${index + 1}`),
      mediaType: plainName(attachment.mimeType, 'application/octet-stream', 100),
      bytes: isCut ? null : bytes,
    }));

const sizeOf = ({ content }: Attachment): number => (typeof content === 'string' ? content.length : content.byteLength);
