import type { IncomingMessage } from 'node:http';
import { upTo } from '../shared/bounded.ts';
import { within } from '../shared/deadline.ts';
import { TelegramError, telegramErrorOf } from './api.ts';
import type { BotApi } from './api.ts';
import { isFileId } from './inbound-files.ts';
import type { TelegramTimings } from './timings.ts';

/** Telegram's own server gives out no larger files to bots. Source: core.telegram.org/bots/api#getfile. */
export const maxFileInBytes = 20 * 1024 * 1024;

/** The bytes of a file that came in. Its address has the token in it, so nothing but bytes leaves this function. */
export async function openFile(
  bot: BotApi,
  ref: string,
  maxBytes: number,
  options: { readonly timings: TelegramTimings; readonly signal: AbortSignal },
): Promise<AsyncIterable<Uint8Array>> {
  const { timings, signal } = options;
  if (!isFileId(ref)) throw new TelegramError({ description: 'this is no file of Telegram' });
  const file = await bot.call(timings.callMs, signal, (api, ending) => api.getFile(ref, ending));
  const path = file.file_path;
  if (typeof path !== 'string' || !isPath(path)) throw new TelegramError({ description: 'the file has no path' });
  const most = Math.min(maxBytes, maxFileInBytes);
  const ending = new AbortController();
  const giveUp = (): void => ending.abort();
  if (signal.aborted) giveUp();
  signal.addEventListener('abort', giveUp, { once: true });
  const timer = setTimeout(giveUp, timings.fileMs);
  const close = (): void => {
    clearTimeout(timer);
    signal.removeEventListener('abort', giveUp);
    giveUp();
  };
  try {
    const url = new URL(`${bot.server.apiRoot}/file/bot${bot.token}/${path}`);
    const reply = await within(timings.stalledMs, ending.signal, () =>
      bot.server.transport.get(url, { signal: ending.signal }),
    );
    const isFile = reply.statusCode === 200 && !(Number(reply.headers['content-length']) > most);
    if (!isFile)
      throw new TelegramError({ code: reply.statusCode ?? null, description: 'the file is too large or not there' });
    reply.setTimeout(timings.stalledMs, giveUp);
    return bytesOf(reply, most, close);
  } catch (error) {
    close();
    throw telegramErrorOf(error);
  }
}

/** Below the folder of the bot. A server of one's own may give absolute paths of its disk: those are not fetched. */
const isPath = (path: string): boolean => /^[A-Za-z0-9_][A-Za-z0-9_./-]{0,299}$/.test(path) && !path.includes('..');

async function* bytesOf(reply: IncomingMessage, maxBytes: number, close: () => void): AsyncGenerator<Uint8Array> {
  try {
    yield* upTo(reply as AsyncIterable<Buffer>, maxBytes);
  } catch (error) {
    if (error instanceof Error && error.name === 'TooLargeError') throw error;
    throw new TelegramError({ description: 'the file broke off' });
  } finally {
    close();
  }
}
