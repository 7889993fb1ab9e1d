/** A mailbox: messages, threads, labels and the history of its changes, as the Gmail API shows them. */
import { randomBytes } from 'node:crypto';
import { bareAddress, mailText } from './mail.ts';
import type { Mail } from './mail.ts';

export interface StoredMail {
  readonly id: string;
  readonly threadId: string;
  readonly labelIds: Set<string>;
  readonly raw: string;
  readonly receivedAt: number;
  historyId: number;
}

export interface HistoryRecord {
  readonly id: number;
  readonly type: 'messageAdded' | 'labelAdded';
  readonly message: StoredMail;
}

/** A mail that the mailbox has sent. */
export interface SentMail {
  readonly id: string;
  readonly threadId: string;
  readonly raw: string;
  readonly headers: Readonly<Record<string, string>>;
}

export class StubMailbox {
  readonly address: string;
  readonly messages = new Map<string, StoredMail>();
  readonly labels = new Map<string, string>([
    ['INBOX', 'INBOX'],
    ['SENT', 'SENT'],
    ['UNREAD', 'UNREAD'],
    ['SPAM', 'SPAM'],
    ['TRASH', 'TRASH'],
    ['DRAFT', 'DRAFT'],
  ]);
  readonly sent: SentMail[] = [];
  /** Oldest first. */
  readonly history: HistoryRecord[] = [];
  /** Histories from before it answer 404. */
  oldestHistoryId: number;
  /** Answers histories as if nothing had come. */
  isDeaf = false;
  duplicatesHistory = false;
  /** Where changes are published, and of messages with which label; null: nowhere. */
  watch: { readonly topic: string; readonly labelIds: readonly string[]; readonly endsAt: number } | null = null;
  watchMs = 7 * 86_400_000;
  /** Called with the topic of the watch when something of it has changed. */
  onChange: (topic: string) => void = () => undefined;
  reversesHistory = false;
  #historyId: number;

  constructor(address: string, firstHistoryId = 1_000) {
    this.address = address.toLowerCase();
    this.#historyId = firstHistoryId;
    this.oldestHistoryId = firstHistoryId;
  }

  get historyId(): number {
    return this.#historyId;
  }

  /** Somebody writes to it. `threadId` follows Gmail: by the mails it refers to. */
  deliver(mail: Mail, labels: readonly string[] = ['INBOX', 'UNREAD']): StoredMail & { readonly messageId: string } {
    const messageId = mail.messageId ?? `<${randomBytes(8).toString('hex')}@${domainOf(mail.from)}>`;
    const raw = mailText(mail, this.address, messageId, new Date());
    const stored = this.#store(raw, this.#threadOf(raw), labels);
    return { ...stored, messageId };
  }

  /** Bytes as they are, with nothing that Google puts before. */
  deliverRaw(raw: string, labels: readonly string[] = ['INBOX', 'UNREAD']): StoredMail {
    return this.#store(raw, this.#threadOf(raw), labels);
  }

  /** Sends what the API was given. Throws nothing: what Gmail refuses is refused before. */
  send(raw: string, threadId: string | null): StoredMail {
    const stored = this.#store(raw, threadId ?? newId(), ['SENT']);
    this.sent.push({ id: stored.id, threadId: stored.threadId, raw, headers: headersOf(raw) });
    return stored;
  }

  modify(id: string, add: readonly string[], remove: readonly string[]): StoredMail {
    const message = this.messages.get(id)!;
    for (const label of add) message.labelIds.add(label);
    for (const label of remove) message.labelIds.delete(label);
    this.#record('labelAdded', message);
    return message;
  }

  /** Whether the mailbox has a label of this name on a message. */
  isLabelled(id: string, name: string): boolean {
    const label = [...this.labels].find(([, each]) => each === name)?.[0];
    return label !== undefined && (this.messages.get(id)?.labelIds.has(label) ?? false);
  }

  /** The history shows once more that a message came, as after a move out of the inbox and back. */
  repeat(id: string): void {
    this.#record('messageAdded', this.messages.get(id)!);
  }

  /** The last week is gone: what came until now has no history. */
  forgetHistory(): void {
    this.history.length = 0;
    this.#historyId += 100;
    this.oldestHistoryId = this.#historyId;
  }

  #store(raw: string, threadId: string, labels: readonly string[]): StoredMail {
    const message = {
      id: newId(),
      threadId,
      labelIds: new Set(labels),
      raw,
      receivedAt: Date.now(),
      historyId: 0,
    };
    this.messages.set(message.id, message);
    this.#record('messageAdded', message);
    return message;
  }

  #record(type: HistoryRecord['type'], message: StoredMail): void {
    this.#historyId += 7;
    message.historyId = this.#historyId;
    this.history.push({ id: this.#historyId, type, message });
    if (this.watch === null || this.watch.endsAt <= Date.now()) return;
    const { labelIds, topic } = this.watch;
    if (labelIds.length === 0 || labelIds.some((label) => message.labelIds.has(label))) this.onChange(topic);
  }

  #threadOf(raw: string): string {
    const { references = '', 'in-reply-to': inReplyTo = '' } = headersOf(raw);
    const named = new Set(`${references} ${inReplyTo}`.split(/\s+/).filter((id) => id !== ''));
    for (const message of this.messages.values()) {
      if (named.has(headersOf(message.raw)['message-id'] ?? '')) return message.threadId;
    }
    return newId();
  }
}

const newId = (): string => randomBytes(8).toString('hex');

const domainOf = (from: string): string => bareAddress(from).split('@').at(-1)!;

/** By lower-cased name, unfolded; the first of each. */
export function headersOf(raw: string): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const { name, value } of headerLines(raw)) headers[name.toLowerCase()] ??= value;
  return headers;
}

/** In their order, unfolded, with each that stands there twice. */
export function headerLines(raw: string): readonly { readonly name: string; readonly value: string }[] {
  const end = raw.indexOf('\r\n\r\n');
  return (end === -1 ? raw : raw.slice(0, end))
    .replaceAll(/\r\n[ \t]+/g, ' ')
    .split('\r\n')
    .flatMap((line) => {
      const colon = line.indexOf(':');
      return colon > 0 ? [{ name: line.slice(0, colon), value: line.slice(colon + 1).trim() }] : [];
    });
}
