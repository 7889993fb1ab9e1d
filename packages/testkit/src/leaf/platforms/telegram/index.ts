/**
 * A stub for Telegram: a real HTTP server that speaks the Bot API, refuses what Telegram refuses, and misbehaves on command.
 *
 *     const telegram = await startTelegramStub();
 *     const bot = telegram.bot();
 *     … a client with `telegram.apiRoot` and `bot.token` …
 *     bot.userWrites({ text: 'Hello' });
 *     bot.sent
 *     await telegram.close();
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { StubBot } from './bot.ts';
import type { BotOptions } from './bot.ts';
import { callMethod } from './methods.ts';
import { readRequest } from './request.ts';
import { ApiRefusal } from './types.ts';
import type { ApiFailure } from './types.ts';

export type { BotOptions, StubBot } from './bot.ts';
export type { ApiFailure, Button, ButtonPress, SentByBot, StubFile, Trouble, UserMessage, Written } from './types.ts';

export interface TelegramStub {
  /** Without a slash at its end. */
  readonly apiRoot: string;
  /** A bot that nobody has used. */
  bot(options?: BotOptions): StubBot;
  /** Ends all connections and frees the port. */
  close(): Promise<void>;
}

const slowMs = 2_000;

export async function startTelegramStub(port = 0): Promise<TelegramStub> {
  const bots = new Map<string, StubBot>();
  let nextId = 700_000_001;
  const server = createServer((req, res) => {
    answer(bots, req, res).catch(() => res.destroy());
  });
  server.requestTimeout = 0;
  server.keepAliveTimeout = 75_000;
  server.listen(port, '127.0.0.1', 4_096);
  await once(server, 'listening');
  return {
    apiRoot: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bot(options = {}) {
      const bot = new StubBot(nextId++, randomBytes(26).toString('base64url'), options);
      bots.set(bot.token, bot);
      return bot;
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function answer(bots: ReadonlyMap<string, StubBot>, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const url = new URL(req.url ?? '/', 'http://telegram');
  const [, kind = '', token = '', rest = ''] = /^\/(file\/)?bot([^/]+)\/(.+)$/.exec(url.pathname) ?? [];
  const bot = bots.get(decodeURIComponent(token));
  bot?.answering(kind === '' ? rest : 'file', res);
  if (!bot || bot.revoked) {
    req.resume();
    return refuse(res, /^\d+:[\w-]{30,}$/.test(token) ? unauthorized : notFound);
  }
  if (bot.trouble === 'unreachable') return void res.destroy();
  if (kind !== '') return sendFile(bot, decodeURIComponent(rest), res);
  await answerMethod(bot, rest, url.searchParams, req, res);
}

async function answerMethod(
  bot: StubBot,
  method: string,
  query: URLSearchParams,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const request = await readRequest(req, method, query);
  if (!request) return refuse(res, { code: 413, description: 'Request Entity Too Large' });
  const failure = bot.takeFailure(method);
  if (failure) return refuse(res, failure);
  const gone = new AbortController();
  res.on('close', () => gone.abort());
  try {
    const result = await callMethod(bot, request, gone.signal);
    if (bot.trouble === 'slow' && method !== 'getUpdates') await sleep(slowMs);
    if (bot.takeCut(method)) return void res.destroy();
    reply(res, 200, { ok: true, result });
  } catch (error) {
    if (!(error instanceof ApiRefusal)) throw error;
    refuse(res, error.failure);
  }
}

function sendFile(bot: StubBot, path: string, res: ServerResponse): void {
  const file = bot.chats.fileAt(path);
  if (!file) return refuse(res, notFound);
  res.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': file.bytes.length });
  res.end(file.bytes);
}

const unauthorized: ApiFailure = { code: 401, description: 'Unauthorized' };
const notFound: ApiFailure = { code: 404, description: 'Not Found' };

const refuse = (res: ServerResponse, { code, description, parameters }: ApiFailure): void =>
  reply(res, code, { ok: false, error_code: code, description, ...(parameters && { parameters }) });

function reply(res: ServerResponse, status: number, body: object): void {
  if (res.destroyed) return;
  res.writeHead(status, { 'content-type': 'application/json' });
  res.end(JSON.stringify(body));
}
