import { badRequest } from './types.ts';
import type { ChatsOwner, StubFile, UserMessage } from './types.ts';

interface Content {
  readonly message_id: number;
  readonly [field: string]: unknown;
}

/** The chats that one bot is in, and the files in them. */
export class Chats {
  private readonly bot: ChatsOwner;
  private nextMessage = 1;
  private nextFile = 1;
  private readonly known = new Set<number>();
  private readonly messages = new Set<string>();
  private readonly topics = new Set<string>();
  private readonly files = new Map<string, { readonly path: string; readonly file: StubFile }>();

  constructor(bot: ChatsOwner) {
    this.bot = bot;
  }

  message(given: UserMessage): { chatId: number; thread: number | null; content: Content; isMeant: boolean } {
    const userId = given.from?.id ?? 5_000_000_000 + this.bot.id;
    const isGroup = given.in === 'group';
    const chatId = isGroup ? -1_000_000_000_000 - this.bot.id : userId;
    const thread = given.thread ?? null;
    const said = given.text ?? '';
    const text = given.mention ? `@${this.bot.username} ${said}` : said;
    const entities = given.mention ? [{ type: 'mention', offset: 0, length: this.bot.username.length + 1 }] : [];
    const replied = given.repliesToBot
      ? this.bot.sent.findLast((sent) => sent.chatId === chatId && sent.thread === thread)
      : null;
    const content = {
      message_id: this.remember(chatId, thread),
      date: Math.floor(Date.now() / 1_000),
      chat: this.chat(chatId, isGroup, thread !== null, given),
      from: {
        id: userId,
        is_bot: given.from?.isBot ?? false,
        first_name: given.from?.name ?? 'Ann',
        language_code: 'en',
      },
      ...(thread !== null && { message_thread_id: thread, is_topic_message: true }),
      ...(replied && { reply_to_message: this.repliedTo(replied.messageId, chatId, replied.text) }),
      ...(given.file
        ? { ...this.media(given.file), ...(text !== '' && { caption: text, caption_entities: entities }) }
        : { text, ...(entities.length > 0 && { entities }) }),
      ...given.extra,
    };
    return {
      chatId,
      thread,
      content,
      isMeant: !isGroup || given.mention === true || Boolean(replied) || said.startsWith('/'),
    };
  }

  /** The bot's own message in a chat. Refuses as the platform does. */
  add(
    chatId: unknown,
    thread: unknown,
    reply: Readonly<Record<string, unknown>>,
  ): { id: number; chatId: number; thread: number | null; repliesTo: number | null } {
    const chat = Number(chatId);
    if (chatId === undefined || chatId === '') throw badRequest('chat_id is empty');
    if (!this.known.has(chat)) throw badRequest('chat not found');
    const topic = thread === undefined ? null : Number(thread);
    if (topic !== null && !this.topics.has(`${chat}/${topic}`)) throw badRequest('message thread not found');
    const repliesTo = reply['message_id'] === undefined ? null : Number(reply['message_id']);
    const isThere = repliesTo !== null && this.messages.has(`${chat}/${repliesTo}`);
    if (repliesTo !== null && !isThere && reply['allow_sending_without_reply'] !== true) {
      throw badRequest('message to be replied not found');
    }
    return { id: this.remember(chat, topic), chatId: chat, thread: topic, repliesTo: isThere ? repliesTo : null };
  }

  knows(chatId: unknown): boolean {
    return this.known.has(Number(chatId));
  }

  /** The bot is thrown out of the chat. */
  leave(chatId: number): void {
    this.known.delete(chatId);
  }

  file(fileId: unknown): { readonly path: string; readonly file: StubFile } | undefined {
    return this.files.get(String(fileId));
  }

  fileAt(path: string): StubFile | undefined {
    return [...this.files.values()].find((each) => each.path === path)?.file;
  }

  private remember(chatId: number, thread: number | null): number {
    const id = this.nextMessage++;
    this.known.add(chatId);
    this.messages.add(`${chatId}/${id}`);
    if (thread !== null) this.topics.add(`${chatId}/${thread}`);
    return id;
  }

  private chat(id: number, isGroup: boolean, isForum: boolean, given: UserMessage): Readonly<Record<string, unknown>> {
    if (!isGroup) return { id, type: 'private', first_name: given.from?.name ?? 'Ann' };
    return { id, type: 'supergroup', title: given.groupName ?? 'Group', ...(isForum && { is_forum: true }) };
  }

  private repliedTo(messageId: number, chatId: number, text: string): Readonly<Record<string, unknown>> {
    const from = { id: this.bot.id, is_bot: true, first_name: this.bot.name, username: this.bot.username };
    return { message_id: messageId, date: 1, chat: { id: chatId, type: 'supergroup', title: 'Group' }, from, text };
  }

  private media(file: StubFile): Readonly<Record<string, unknown>> {
    const number = this.nextFile++;
    const as = file.as ?? 'document';
    const fileId = `${as}-${this.bot.id}-${number}`;
    this.files.set(fileId, { path: `${as}s/file_${number}`, file });
    const stored = { file_id: fileId, file_unique_id: `u${number}`, file_size: file.claimedBytes ?? file.bytes.length };
    if (as === 'voice') return { voice: { ...stored, duration: 2, mime_type: file.mediaType } };
    if (as === 'document') return { document: { ...stored, file_name: file.name, mime_type: file.mediaType } };
    const small = { file_id: `${fileId}-small`, file_unique_id: `u${number}s`, file_size: 10, width: 90, height: 90 };
    return { photo: [small, { ...stored, width: 1280, height: 1280 }] };
  }
}
