/** Buttons below messages. Source: core.telegram.org/bots/api#inlinekeyboardbutton, #callbackquery, #answercallbackquery. */
import { asObject, isChoiceToken } from '@lodge/domain';
import type { Choice, Json } from '@lodge/domain';
import { maxSayChars } from '@lodge/ports';
import type { Press, Pressed } from '@lodge/ports';
import { idOf, textOf } from '../shared/plain.ts';
import type { BotApi } from './api.ts';
import { integerOf, kindOf, senderOf } from './inbound.ts';
import type { TelegramTimings } from './timings.ts';

interface Button {
  readonly text: string;
  readonly callback_data: string;
}

/** Characters of the labels in one row of buttons. A phone shows no more. */
const rowChars = 30;

export function keyboardOf(choices: readonly Choice[]): { readonly inline_keyboard: Button[][] } {
  const rows: Button[][] = [];
  let left = 0;
  for (const { token, label } of choices) {
    const button = { text: label, callback_data: token };
    if (label.length > left) {
      rows.push([]);
      left = rowChars;
    }
    rows.at(-1)!.push(button);
    left -= label.length;
  }
  return { inline_keyboard: rows };
}

export const noKeyboard = { reply_markup: { inline_keyboard: [] } };

export interface TelegramPress {
  readonly queryId: string;
  readonly chat: number;
  readonly message: number;
  readonly press: Press;
}

/** Null for an update that is no press of a choice in a chat that the bot sees. */
export function pressOf(update: Json): TelegramPress | null {
  const query = asObject(update['callback_query']);
  const message = asObject(query?.['message']);
  const chat = asObject(message?.['chat']);
  if (!query || !message || !chat) return null;
  const queryId = idOf(query['id']);
  const chatId = integerOf(chat['id']);
  const messageId = integerOf(message['message_id']);
  const kind = kindOf(chat['type']);
  const sender = senderOf(query);
  const token = textOf(query['data'], 65);
  if (queryId === null || chatId === null || messageId === null || kind === null || sender === null) return null;
  if (!isChoiceToken(token)) return null;
  const thread = message['is_topic_message'] === true ? integerOf(message['message_thread_id']) : null;
  const conversation = { id: thread === null ? String(chatId) : `${chatId}/${thread}`, kind };
  return {
    queryId,
    chat: chatId,
    message: messageId,
    press: { token, sender, conversation, messageId: String(messageId) },
  };
}

/** Sentences that may be on their way at once; the rest is not told. */
const maxAnswering = 20;

/** Tells people what their presses led to. The press is committed by then, so a failure does not matter. */
export class PressAnswers {
  private readonly bot: BotApi;
  private readonly timings: Pick<TelegramTimings, 'callMs'>;
  private readonly signal: AbortSignal;
  private underWay = 0;

  constructor(bot: BotApi, timings: Pick<TelegramTimings, 'callMs'>, signal: AbortSignal) {
    this.bot = bot;
    this.timings = timings;
    this.signal = signal;
  }

  /** Returns at once. */
  answer(press: TelegramPress, pressed: Pressed): void {
    if (this.underWay >= maxAnswering) return;
    this.underWay += 1;
    void this.tell(press, pressed)
      .catch(() => undefined)
      .finally(() => {
        this.underWay -= 1;
      });
  }

  private async tell({ queryId, chat, message }: TelegramPress, { say, close }: Pressed): Promise<void> {
    const { callMs } = this.timings;
    const text = say.slice(0, maxSayChars);
    const told = this.bot.call(callMs, this.signal, (api, ending) =>
      api.answerCallbackQuery(queryId, { text }, ending),
    );
    const closed = close
      ? this.bot.call(callMs, this.signal, (api, ending) =>
          api.editMessageReplyMarkup(chat, message, noKeyboard, ending),
        )
      : null;
    await Promise.allSettled([told, closed]);
  }
}
