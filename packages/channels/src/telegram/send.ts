import { InputFile } from 'grammy';
import type { Choice, Json } from '@lodge/domain';
import { SendFailure } from '@lodge/ports';
import type { OutboundPart, RenderedText, SendTarget } from '@lodge/ports';
import { upTo } from '../shared/bounded.ts';
import { fileName } from '../shared/plain.ts';
import { TelegramError } from './api.ts';
import type { BotApi } from './api.ts';
import { markdownFormat, richMarkdown } from './dialect.ts';
import { keyboardOf, noKeyboard } from './presses.ts';
import type { TelegramTimings } from './timings.ts';

/** Source: core.telegram.org/bots/api#sending-files. */
export const maxFileOutBytes = 50 * 1024 * 1024;
const maxPhotoBytes = 10 * 1024 * 1024;
const photoTypes: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/webp']);

interface Place {
  readonly chat: number;
  readonly options: {
    readonly message_thread_id?: number;
    readonly reply_parameters?: { readonly message_id: number; readonly allow_sending_without_reply: true };
    readonly reply_markup?: ReturnType<typeof keyboardOf>;
  };
}

/** Sends parts for one bot. Telegram knows no send twice: what is unclear stays unclear. */
export class Sender {
  private readonly bot: BotApi;
  private readonly timings: TelegramTimings;
  /** A server that is older than rich messages refuses them once. */
  private takesRich = true;

  constructor(bot: BotApi, timings: TelegramTimings) {
    this.bot = bot;
    this.timings = timings;
  }

  async send(to: SendTarget, part: OutboundPart, signal: AbortSignal): Promise<{ readonly id: string }> {
    const place = placeOf(to);
    if (signal.aborted) throw new SendFailure('retry', 'The send was given up before it began.');
    try {
      return await this.sendTo(place, part, signal);
    } catch (error) {
      // A group that became a supergroup has another id. The first try was refused for that.
      if (!(error instanceof TelegramError) || error.migratedTo === null) throw failureOf(error);
      try {
        return await this.sendTo({ ...place, chat: error.migratedTo }, part, signal);
      } catch (again) {
        throw failureOf(again);
      }
    }
  }

  async closeChoices(to: SendTarget, id: string, text: RenderedText, signal: AbortSignal): Promise<void> {
    const { chat } = placeOf(to);
    if (!/^\d{1,16}$/.test(id)) throw new SendFailure('refused', 'This is no message of Telegram.');
    const forms = text.format === markdownFormat && this.takesRich ? [{ markdown: richMarkdown(text.text) }] : [];
    for (const form of [...forms, text.text]) {
      try {
        await this.bot.call(this.timings.callMs, signal, (api, ending) =>
          api.editMessageText(chat, Number(id), form, { ...noKeyboard, ...withoutPreview }, ending),
        );
        return;
      } catch (error) {
        if (isClosed(error)) return;
        // A form that Telegram does not take goes as plain text.
        if (typeof form === 'string' || !isRefusalOfForm(error)) throw failureOf(error);
      }
    }
  }

  async typing(to: Pick<SendTarget, 'conversationId'>, signal: AbortSignal): Promise<void> {
    try {
      const { chat, options } = placeOf({ ...to, conversationKind: 'direct', replyTo: null, index: 0 });
      await this.bot.call(this.timings.callMs, signal, (api, ending) =>
        api.sendChatAction(chat, 'typing', options, ending),
      );
    } catch {
      // Nobody waits for it.
    }
  }

  private async sendTo(place: Place, part: OutboundPart, signal: AbortSignal): Promise<{ readonly id: string }> {
    if (part.kind === 'file') return this.sendFile(place, part, signal);
    const { choices } = part;
    const below = choices === undefined ? place : withChoices(place, choices);
    return this.sendText(below, part, signal);
  }

  private async sendText(place: Place, part: RenderedText, signal: AbortSignal): Promise<{ readonly id: string }> {
    if (part.format === markdownFormat && this.takesRich) {
      try {
        return await this.sendRich(place, part.text, signal);
      } catch (error) {
        if (!isRefusalOfForm(error)) throw error;
        if (error.code === 404) this.takesRich = false;
      }
    }
    return this.sendPlain(place, part.text, signal);
  }

  private async sendRich(
    { chat, options }: Place,
    text: string,
    signal: AbortSignal,
  ): Promise<{ readonly id: string }> {
    const rich = { markdown: richMarkdown(text) };
    return idOfSent(
      await this.bot.call(this.timings.callMs, signal, (api, ending) =>
        api.sendRichMessage(chat, rich, options, ending),
      ),
    );
  }

  /** Without previews: Telegram would fetch every address that an agent names. */
  private async sendPlain(
    { chat, options }: Place,
    text: string,
    signal: AbortSignal,
  ): Promise<{ readonly id: string }> {
    const plain = { ...options, ...withoutPreview };
    return idOfSent(
      await this.bot.call(this.timings.callMs, signal, (api, ending) => api.sendMessage(chat, text, plain, ending)),
    );
  }

  private async sendFile(
    place: Place,
    part: Extract<OutboundPart, { kind: 'file' }>,
    signal: AbortSignal,
  ): Promise<{ readonly id: string }> {
    if (part.bytes > maxFileOutBytes)
      throw new SendFailure('refused', `Telegram takes files of at most ${maxFileOutBytes} bytes.`);
    if (part.bytes === 0) throw new SendFailure('refused', 'Telegram takes no empty files.');
    if (photoTypes.has(part.mediaType) && part.bytes <= maxPhotoBytes) {
      try {
        return await this.upload('sendPhoto', place, part, signal);
      } catch (error) {
        // A file that Telegram does not accept as a picture goes as a file.
        if (!isRefusalOfForm(error)) throw error;
      }
    }
    return this.upload('sendDocument', place, part, signal);
  }

  private async upload(
    method: 'sendPhoto' | 'sendDocument',
    { chat, options }: Place,
    part: Extract<OutboundPart, { kind: 'file' }>,
    signal: AbortSignal,
  ): Promise<{ readonly id: string }> {
    let hasBroken = false;
    const bytes = async function* (): AsyncGenerator<Uint8Array> {
      try {
        yield* upTo(part.open(), maxFileOutBytes);
      } catch (error) {
        hasBroken = true;
        throw error;
      }
    };
    const file = new InputFile(bytes(), headerName(part.name));
    try {
      return idOfSent(
        await this.bot.call<unknown>(this.timings.fileMs, signal, (api, ending) =>
          api[method](chat, file, options, ending),
        ),
      );
    } catch (error) {
      // A request without its end is no request.
      if (hasBroken) throw new SendFailure('retry', 'The file could not be read to its end.');
      throw error;
    }
  }
}

/** grammY writes it bare into a header of the form. */
const headerName = (name: string): string => fileName(name.replaceAll(/["';=%\\\r\n]/g, '_'), 'file');

const withoutPreview = { link_preview_options: { is_disabled: true } };

const withChoices = ({ chat, options }: Place, choices: readonly Choice[]): Place => ({
  chat,
  options: { ...options, reply_markup: keyboardOf(choices) },
});

/** The message has the text and no keyboard already, or is gone. */
const isClosed = (error: unknown): boolean =>
  error instanceof TelegramError &&
  error.code === 400 &&
  ['message is not modified', 'message to edit not found'].some((words) => error.description.includes(words));

const isRefusalOfForm = (error: unknown): error is TelegramError =>
  error instanceof TelegramError && (error.code === 400 || error.code === 404) && error.migratedTo === null;

export function placeOf({
  conversationId,
  conversationKind,
  replyTo,
  index,
}: Omit<SendTarget, 'count' | 'sentIds'>): Place {
  const found = /^(-?\d{1,16})(?:\/(\d{1,16}))?$/.exec(conversationId);
  if (!found) throw new SendFailure('refused', 'This is no conversation of Telegram.');
  const message = repliedMessage(replyTo);
  // In a direct conversation it is plain what is answered.
  const repliesTo = conversationKind === 'group' && index === 0 ? message : null;
  return {
    chat: Number(found[1]),
    options: {
      ...(found[2] !== undefined && { message_thread_id: Number(found[2]) }),
      ...(repliesTo !== null && {
        reply_parameters: { message_id: repliesTo, allow_sending_without_reply: true as const },
      }),
    },
  };
}

function repliedMessage(replyTo: Json | null): number | null {
  const message = replyTo?.['message'];
  return typeof message === 'number' && Number.isSafeInteger(message) ? message : null;
}

export function idOfSent(message: unknown): { readonly id: string } {
  const id = (message as { readonly message_id?: unknown } | null)?.message_id;
  return { id: Number.isSafeInteger(id) ? String(id) : 'sent' };
}

export function failureOf(error: unknown): SendFailure {
  if (error instanceof SendFailure) return error;
  if (!(error instanceof TelegramError)) return new SendFailure('unknown', 'The send ended in an unexpected way.');
  const { code, message, hasLeft, retryAfterMs } = error;
  if (code === null) return hasLeft ? unclear() : new SendFailure('retry', 'Telegram could not be reached.');
  if (code === 429) return new SendFailure('retry', 'Telegram asks for fewer messages.', { retryAfterMs });
  // The token may be mended; the message is as good as before.
  if (code === 401 || code === 404 || code === 409) return new SendFailure('retry', message);
  return code >= 500 ? unclear() : new SendFailure('refused', message);
}

const unclear = (): SendFailure =>
  new SendFailure('unknown', 'Telegram may have sent it: the connection broke before its answer.');
