import type { ServerResponse } from 'node:http';
import { Chats } from './chats.ts';
import { ApiRefusal } from './types.ts';
import type { ApiFailure, Button, ButtonPress, SentByBot, Trouble, UserMessage, Written } from './types.ts';

interface Update {
  readonly update_id: number;
  readonly [field: string]: unknown;
}

interface Poll {
  readonly limit: number;
  readonly reply: (updates: readonly Update[] | ApiRefusal) => void;
}

interface PollRequest {
  readonly offset: number;
  readonly limit: number;
  readonly timeoutS: number;
  /** Null: as before. */
  readonly allowed: readonly string[] | null;
}

export interface BotOptions {
  readonly name?: string;
  readonly username?: string;
  /** False: privacy mode, in which a group's messages reach the bot only when they are meant for it. Default true. */
  readonly readsAllGroupMessages?: boolean;
}

/** One bot, as the platform has it. */
export class StubBot {
  readonly id: number;
  readonly token: string;
  readonly name: string;
  readonly username: string;
  readonly readsAllGroupMessages: boolean;
  readonly chats: Chats;
  readonly sent: SentByBot[] = [];
  /** The bot's messages in its chats, as last edited, by id. */
  readonly shown = new Map<number, SentByBot>();
  /** Texts that messages were edited to, oldest first. */
  readonly edits: string[] = [];
  /** Called with each of them as it comes. */
  onSent: ((message: SentByBot) => void) | null = null;
  /** Sentences by the ids of the presses that they answer. */
  readonly told = new Map<string, string>();
  /** Chats in which it showed that it types, oldest first. */
  readonly actions: number[] = [];
  /** Methods that were called, polls included, oldest first: the last ten thousand. */
  readonly calls: string[] = [];
  /** How many calls there were, without a bound. */
  requests = 0;
  revoked = false;
  webhookUrl = '';
  trouble: Trouble = 'mended';

  private readonly updates: Update[] = [];
  private confirmedBelow = 0;
  private nextUpdate: number;
  private last: Update | null = null;
  private again: Update | null = null;
  private poll: Poll | null = null;
  private nextQuery = 1;
  /** Presses that can be answered. */
  private readonly queries = new Set<string>();
  /** Kinds of updates that the last poll asked for; null: all. */
  private allowed: readonly string[] | null = null;
  private readonly failures: { readonly method: string; readonly failure: ApiFailure }[] = [];
  private readonly cuts: string[] = [];
  private readonly replies = new Set<ServerResponse>();

  constructor(id: number, secret: string, options: BotOptions) {
    this.id = id;
    this.token = `${id}:${secret}`;
    this.name = options.name ?? 'Test bot';
    this.username = options.username ?? `test_${id}_bot`;
    this.readsAllGroupMessages = options.readsAllGroupMessages ?? true;
    this.nextUpdate = 100_000 + (id % 1_000);
    this.chats = new Chats(this);
  }

  // Actions of tests.

  /** Null when privacy mode keeps it from the bot. */
  userWrites(message: UserMessage): Written | null {
    const { chatId, thread, content, isMeant } = this.chats.message(message);
    if (!isMeant && !this.readsAllGroupMessages) return null;
    const update = this.push({ message: content });
    return { updateId: update.update_id, messageId: content.message_id, chatId, thread };
  }

  /** Returns the id of the press. */
  userPresses({ label, data, messageId, from, extra }: ButtonPress): string {
    const messages = [...this.shown.values()];
    const message =
      messageId === undefined
        ? messages.findLast(({ buttons }) => buttons.length > 0)
        : messages.find((each) => each.messageId === messageId);
    if (!message) throw new Error('there is no such message');
    const button = message.buttons.find(({ text }) => text === label);
    if (data === undefined && !button) throw new Error(`there is no button ${label}`);
    const { chatId, thread, text, buttons } = message;
    const isGroup = chatId < 0;
    const id = String(4_000_000_000_000_000_000n + BigInt(this.nextQuery++));
    this.queries.add(id);
    const chat = isGroup
      ? { id: chatId, type: 'supergroup', title: 'Group' }
      : { id: chatId, type: 'private', first_name: 'Ann' };
    const userId = from?.id ?? (isGroup ? 5_000_000_000 + this.id : chatId);
    this.push({
      callback_query: {
        id,
        from: { id: userId, is_bot: false, first_name: from?.name ?? 'Ann', language_code: 'en' },
        message: {
          message_id: message.messageId,
          date: Math.floor(Date.now() / 1_000),
          chat,
          from: { id: this.id, is_bot: true, first_name: this.name, username: this.username },
          text,
          ...(thread !== null && { message_thread_id: thread, is_topic_message: true }),
          reply_markup: { inline_keyboard: buttons.map((each) => [each]) },
        },
        chat_instance: '1',
        data: data ?? button!.callback_data,
        ...extra,
      },
    });
    return id;
  }

  /** From here on nobody can be told what the press led to. */
  expire(queryId: string): void {
    this.queries.delete(queryId);
  }

  /** False: the press is too old, or none. */
  tell(queryId: string, text: string): boolean {
    if (!this.queries.delete(queryId)) return false;
    this.told.set(queryId, text);
    return true;
  }

  /** Any update at all. */
  push(fields: Readonly<Record<string, unknown>>): Update {
    const update = { update_id: this.nextUpdate++, ...fields };
    const isWanted = this.allowed === null || !('callback_query' in fields) || this.allowed.includes('callback_query');
    if (!isWanted) return update;
    this.updates.push(update);
    this.last = update;
    this.deliver();
    return update;
  }

  /** Whether a poll has confirmed the update. */
  isConfirmed(updateId: number): boolean {
    return updateId < this.confirmedBelow;
  }

  get pending(): number {
    return this.updates.length;
  }

  /** Whether a poll is open. */
  get isPolled(): boolean {
    return this.poll !== null;
  }

  misbehave(trouble: Trouble): void {
    if (trouble === 'deaf_polls') this.poll = null;
    else this.trouble = trouble;
    if (trouble === 'unreachable') {
      for (const reply of this.replies) reply.destroy();
    }
    if (trouble === 'mended') this.deliver();
  }

  /** The next call of the method is refused. */
  failNext(method: string, failure: ApiFailure): void {
    this.failures.push({ method, failure });
  }

  /** The next call of the method is done, and its connection cut before the reply. */
  cutNext(method: string): void {
    this.cuts.push(method);
  }

  /** The last update comes once more, with its number. */
  redeliver(): void {
    this.again = this.last;
    this.deliver();
  }

  /** After a quiet week the platform may count from anywhere. */
  countFrom(updateId: number): void {
    this.nextUpdate = updateId;
    this.confirmedBelow = 0;
  }

  revoke(): void {
    this.revoked = true;
    this.endPoll(new ApiRefusal(401, 'Unauthorized'));
  }

  setWebhook(url: string): void {
    this.webhookUrl = url;
    if (url !== '') this.endPoll(webhookIsActive());
  }

  /** Somebody else polls with this token. */
  pollElsewhere(): void {
    this.endPoll(terminatedByOther());
  }

  // Actions of the server.

  add(message: SentByBot): void {
    this.sent.push(message);
    this.shown.set(message.messageId, message);
    this.onSent?.(message);
  }

  edit(messageId: number, text: string, buttons: readonly Button[]): SentByBot {
    const edited = { ...this.shown.get(messageId)!, text, buttons };
    this.shown.set(messageId, edited);
    this.edits.push(text);
    return edited;
  }

  remove(messageId: number): void {
    this.shown.delete(messageId);
  }

  takeFailure(method: string): ApiFailure | null {
    const at = this.failures.findIndex((each) => each.method === method);
    return at === -1 ? null : this.failures.splice(at, 1)[0]!.failure;
  }

  takeCut(method: string): boolean {
    const at = this.cuts.indexOf(method);
    if (at !== -1) this.cuts.splice(at, 1);
    return at !== -1;
  }

  answering(method: string, res: ServerResponse): void {
    this.requests += 1;
    this.calls.push(method);
    if (this.calls.length > 10_000) this.calls.shift();
    this.replies.add(res);
    res.on('close', () => this.replies.delete(res));
  }

  /** Source: core.telegram.org/bots/api#getupdates. An older poll ends when another one comes. */
  async getUpdates({ offset, limit, timeoutS, allowed }: PollRequest, gone: AbortSignal): Promise<readonly Update[]> {
    this.allowed = allowed ?? this.allowed;
    if (this.webhookUrl !== '') throw webhookIsActive();
    this.endPoll(terminatedByOther());
    this.confirm(offset);
    const ended = Promise.withResolvers<readonly Update[]>();
    const poll: Poll = {
      limit,
      reply: (updates) => (updates instanceof ApiRefusal ? ended.reject(updates) : ended.resolve(updates)),
    };
    this.poll = poll;
    const end = (): void => {
      // A poll that was made deaf is no longer known, and stays open.
      if (this.poll === poll) this.endPoll([]);
    };
    const timer = setTimeout(end, timeoutS * 1_000);
    gone.addEventListener('abort', end, { once: true });
    this.deliver();
    try {
      return await ended.promise;
    } finally {
      clearTimeout(timer);
    }
  }

  private confirm(offset: number): void {
    // A negative one counts from the end. One far in the future is none: source tdlib/td, TQueue::get.
    const isAhead = offset > this.nextUpdate + 10;
    const from = offset < 0 ? (this.updates.at(offset)?.update_id ?? 0) : isAhead ? 0 : offset;
    this.confirmedBelow = Math.max(this.confirmedBelow, from);
    while (this.updates.length > 0 && this.updates[0]!.update_id < from) this.updates.shift();
  }

  private deliver(): void {
    if (!this.poll || this.trouble === 'deaf') return;
    const ready = [...(this.again ? [this.again] : []), ...this.updates].slice(0, this.poll.limit);
    if (ready.length === 0) return;
    this.again = null;
    this.endPoll(ready);
  }

  private endPoll(updates: readonly Update[] | ApiRefusal): void {
    const poll = this.poll;
    this.poll = null;
    poll?.reply(updates);
  }
}

const webhookIsActive = (): ApiRefusal =>
  new ApiRefusal(
    409,
    "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
  );

const terminatedByOther = (): ApiRefusal =>
  new ApiRefusal(
    409,
    'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running',
  );
