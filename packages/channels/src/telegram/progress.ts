import { SendFailure } from '@lodge/ports';
import type { ProgressLimits, ProgressMessages, ProgressTarget } from '@lodge/ports';
import { TelegramError } from './api.ts';
import type { BotApi } from './api.ts';
import { failureOf, idOfSent, placeOf } from './send.ts';
import type { TelegramTimings } from './timings.ts';

/** About one message a second in a chat, and thirty in all; core.telegram.org/bots/faq. Most of it is left to answers. */
export const progressLimits: ProgressLimits = { editEveryMs: 5_000, gapMs: 250 };

const quiet = { link_preview_options: { is_disabled: true } } as const;

/** Plain messages without a sound, and without previews. Texts stay as they are: no marks are read in them. */
export class TelegramProgress implements ProgressMessages {
  private readonly bot: BotApi;
  private readonly timings: Pick<TelegramTimings, 'callMs'>;

  constructor(bot: BotApi, timings: Pick<TelegramTimings, 'callMs'>) {
    this.bot = bot;
    this.timings = timings;
  }

  async post(to: ProgressTarget, text: string, signal: AbortSignal): Promise<{ readonly id: string }> {
    const { chat, options } = placeOf({ ...to, conversationKind: 'direct', replyTo: null, index: 0 });
    const more = { ...options, ...quiet, disable_notification: true };
    const sent = await this.call(signal, (api, ending) => api.sendMessage(chat, text, more, ending));
    return idOfSent(sent);
  }

  async edit(to: ProgressTarget, id: string, text: string, signal: AbortSignal): Promise<void> {
    const { chat, message } = messageOf(to, id);
    await this.call(
      signal,
      (api, ending) => api.editMessageText(chat, message, text, quiet, ending),
      'message is not modified',
    );
  }

  async remove(to: ProgressTarget, id: string, signal: AbortSignal): Promise<void> {
    const { chat, message } = messageOf(to, id);
    await this.call(signal, (api, ending) => api.deleteMessage(chat, message, ending), 'message to delete not found');
  }

  /** `isDone`: words of a refusal that says that there is nothing to do. */
  private async call<T>(
    signal: AbortSignal,
    work: Parameters<typeof this.bot.call<T>>[2],
    isDone?: string,
  ): Promise<T | null> {
    if (signal.aborted) throw new SendFailure('retry', 'It was given up before it began.');
    try {
      return await this.bot.call(this.timings.callMs, signal, work);
    } catch (error) {
      const isRefusal = error instanceof TelegramError && error.code === 400;
      if (isRefusal && isDone !== undefined && error.description.includes(isDone)) return null;
      throw failureOf(error);
    }
  }
}

function messageOf(to: ProgressTarget, id: string): { readonly chat: number; readonly message: number } {
  if (!/^\d{1,16}$/.test(id)) throw new SendFailure('refused', 'This is no message of Telegram.');
  const { chat } = placeOf({ ...to, conversationKind: 'direct', replyTo: null, index: 0 });
  return { chat, message: Number(id) };
}
