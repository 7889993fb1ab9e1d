/** Methods of the Bot API, with the refusals of the real one. Source: core.telegram.org/bots/api. */
import type { StubBot } from './bot.ts';
import { objectOf } from './request.ts';
import type { ApiRequest } from './request.ts';
import { ApiRefusal, badRequest } from './types.ts';
import type { Button, SentByBot } from './types.ts';

const maxTextChars = 4_096;
const maxCaptionChars = 1_024;
const maxRichChars = 32_768;
const maxRichBlocks = 500;
const maxDownloadBytes = 20 * 1024 * 1024;
const maxUploadBytes = 50 * 1024 * 1024;
const maxPhotoBytes = 10 * 1024 * 1024;

type Method = (bot: StubBot, request: ApiRequest, gone: AbortSignal) => unknown;

const methods: Readonly<Record<string, Method>> = {
  getme: (bot) => ({
    id: bot.id,
    is_bot: true,
    first_name: bot.name,
    username: bot.username,
    can_join_groups: true,
    can_read_all_group_messages: bot.readsAllGroupMessages,
    supports_inline_queries: false,
  }),
  getwebhookinfo: (bot) => ({
    url: bot.webhookUrl,
    has_custom_certificate: false,
    pending_update_count: bot.pending,
  }),
  deletewebhook: (bot, { parameters }) => {
    if (parameters['drop_pending_updates'] === true) throw new Error('the test bot must lose nothing');
    bot.setWebhook('');
    return true;
  },
  getupdates: (bot, { parameters }, gone) => {
    const limit = Math.min(100, Math.max(1, Number(parameters['limit'] ?? 100)));
    const asked = parameters['allowed_updates'];
    const allowed = Array.isArray(asked) && asked.length > 0 ? asked.map(String) : null;
    const [offset, timeoutS] = [Number(parameters['offset'] ?? 0), Number(parameters['timeout'] ?? 0)];
    return bot.getUpdates({ offset, limit, timeoutS, allowed }, gone);
  },
  sendmessage: (bot, request) => {
    const text = textOf(request, 'text');
    if (text.trim() === '') throw badRequest('message text is empty');
    if (text.length > maxTextChars) throw badRequest('message is too long');
    return sent(bot, request, text, null);
  },
  sendrichmessage: (bot, request) => {
    const { markdown, html, blocks } = objectOf(request.parameters['rich_message']);
    if ([markdown, html, blocks].filter((each) => each !== undefined).length !== 1 || typeof markdown !== 'string') {
      throw badRequest('exactly one of the fields html, markdown, or blocks must be used');
    }
    if (markdown.trim() === '') throw badRequest('message text is empty');
    if (codePointsOf(markdown) > maxRichChars || blocksOf(markdown) > maxRichBlocks)
      throw badRequest('message is too long');
    return sent(bot, request, markdown, null);
  },
  editmessagetext: (bot, request) => {
    const message = ownMessage(bot, request, 'message to edit not found');
    const rich = objectOf(request.parameters['rich_message'])['markdown'];
    const text = typeof rich === 'string' ? rich : textOf(request, 'text');
    if (text.trim() === '') throw badRequest('message text is empty');
    if (text.length > (typeof rich === 'string' ? maxRichChars : maxTextChars)) throw badRequest('message is too long');
    return edited(bot, message, text, buttonsOf(request));
  },
  editmessagereplymarkup: (bot, request) => {
    const message = ownMessage(bot, request, 'message to edit not found');
    return edited(bot, message, bot.shown.get(message)!.text, buttonsOf(request));
  },
  answercallbackquery: (bot, request) => {
    const text = textOf(request, 'text');
    if (text.length > 200) throw badRequest('MESSAGE_TOO_LONG');
    if (bot.tell(textOf(request, 'callback_query_id'), text)) return true;
    throw badRequest('query is too old and response timeout expired or query ID is invalid');
  },
  deletemessage: (bot, request) => {
    bot.remove(ownMessage(bot, request, 'message to delete not found'));
    return true;
  },
  sendchataction: (bot, { parameters }) => {
    if (!bot.chats.knows(parameters['chat_id'])) throw badRequest('chat not found');
    if (typeof parameters['action'] !== 'string') throw badRequest('wrong parameter action in request');
    bot.actions.push(Number(parameters['chat_id']));
    return true;
  },
  senddocument: (bot, request) => {
    const file = fileOf(request, 'document');
    if (file.bytes.length > maxUploadBytes) throw new ApiRefusal(413, 'Request Entity Too Large');
    if (file.bytes.length === 0) throw badRequest('file must be non-empty');
    return sent(bot, request, captionOf(request), file);
  },
  sendphoto: (bot, request) => {
    const file = fileOf(request, 'photo');
    if (file.bytes.length > maxPhotoBytes) throw badRequest('file is too big');
    if (!isImage(file.bytes)) throw badRequest('IMAGE_PROCESS_FAILED');
    return sent(bot, request, captionOf(request), file);
  },
  getfile: (bot, { parameters }) => {
    const found = bot.chats.file(parameters['file_id']);
    if (!found) throw badRequest('wrong file_id or the file is temporarily unavailable');
    if (found.file.bytes.length > maxDownloadBytes) throw badRequest('file is too big');
    const { length } = found.file.bytes;
    return { file_id: parameters['file_id'], file_unique_id: 'u', file_size: length, file_path: found.path };
  },
};

/** The method's result. Throws an `ApiRefusal`. Names of methods are not case-sensitive. */
export async function callMethod(bot: StubBot, request: ApiRequest, gone: AbortSignal): Promise<unknown> {
  const method = methods[request.method.toLowerCase()];
  if (!method) throw new ApiRefusal(404, 'Not Found');
  return method(bot, request, gone);
}

function sent(bot: StubBot, request: ApiRequest, text: string, file: SentByBot['file']): unknown {
  const { chat_id: chat, message_thread_id: topic, reply_parameters: reply } = request.parameters;
  const { id, chatId, thread, repliesTo } = bot.chats.add(chat, topic, objectOf(reply));
  const buttons = buttonsOf(request);
  const isSilent = String(request.parameters['disable_notification']) === 'true';
  const message = { method: request.method, messageId: id, chatId, thread, text, repliesTo, isSilent, file, buttons };
  bot.add(message);
  return messageOf(bot, message);
}

function messageOf(bot: StubBot, { messageId, chatId, text }: SentByBot): unknown {
  const from = { id: bot.id, is_bot: true, first_name: bot.name, username: bot.username };
  const chat = { id: chatId, type: 'private' };
  return { message_id: messageId, date: Math.floor(Date.now() / 1_000), chat, from, text };
}

function edited(bot: StubBot, id: number, text: string, buttons: readonly Button[]): unknown {
  const before = bot.shown.get(id)!;
  const isSame = before.text === text && JSON.stringify(before.buttons) === JSON.stringify(buttons);
  if (isSame) throw badRequest(notModified);
  return messageOf(bot, bot.edit(id, text, buttons));
}

/** Source: core.telegram.org/bots/api#inlinekeyboardbutton. */
function buttonsOf({ parameters }: ApiRequest): readonly Button[] {
  const { inline_keyboard: rows } = objectOf(parameters['reply_markup']);
  if (rows === undefined) return [];
  if (!Array.isArray(rows)) throw badRequest("can't parse reply keyboard markup JSON object");
  return rows.flat().map((each: unknown) => {
    const { text, callback_data: data } = objectOf(each);
    if (typeof text !== 'string' || text.trim() === '')
      throw badRequest('Text buttons are unallowed in the inline keyboard');
    const bytes = typeof data === 'string' ? Buffer.byteLength(data) : 0;
    if (bytes < 1 || bytes > 64) throw badRequest('BUTTON_DATA_INVALID');
    return { text, callback_data: data as string };
  });
}

const notModified =
  'message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message';

/** A bot edits and deletes what it sent, where it sent it. */
function ownMessage(bot: StubBot, { parameters }: ApiRequest, otherwise: string): number {
  if (!bot.chats.knows(parameters['chat_id'])) throw badRequest('chat not found');
  const id = Number(parameters['message_id']);
  if (bot.shown.get(id)?.chatId !== Number(parameters['chat_id'])) throw badRequest(otherwise);
  return id;
}

const textOf = ({ parameters }: ApiRequest, name: string): string => {
  const value = parameters[name];
  return typeof value === 'string' ? value : '';
};

function captionOf(request: ApiRequest): string {
  const caption = textOf(request, 'caption');
  if (caption.length > maxCaptionChars) throw badRequest('message caption is too long');
  return caption;
}

function fileOf(request: ApiRequest, name: string): NonNullable<SentByBot['file']> {
  const file = request.files.get(textOf(request, name).replace(/^attach:\/\//, '')) ?? request.files.get(name);
  if (!file) throw badRequest(`there is no ${name} in the request`);
  return file;
}

const magic: readonly string[] = ['89504e47', 'ffd8ff', '47494638', '52494646'];
const isImage = (bytes: Uint8Array): boolean => {
  const head = Buffer.from(bytes.subarray(0, 4)).toString('hex');
  return magic.some((each) => head.startsWith(each));
};

function codePointsOf(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** Counted as the published limits name them, or a little more. */
function blocksOf(markdown: string): number {
  let blocks = 0;
  let isText = false;
  for (const line of markdown.split('\n')) {
    const isOwn = /^\s*(?:[-*+>|#]|\d+[.)]|```|~~~)/.test(line);
    if (isOwn || (line.trim() !== '' && !isText)) blocks += 1;
    isText = !isOwn && line.trim() !== '';
  }
  return blocks;
}
