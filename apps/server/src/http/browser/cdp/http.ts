/**
 * The HTTP side of Chromium's debugging port, through the guest's daemon: the tabs, and a new or closed one. Whoever controls the
 * guest may answer in Chromium's place, so each answer is bounded before it is read, in bytes and in time.
 */
import { asObject, boundedJson } from '@lodge/domain';
import { request as httpRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

/** Opens a connection to the debugging port. */
export type DialCdp = (signal: AbortSignal) => Promise<Duplex>;

export interface Tab {
  readonly id: string;
  /** The page's words, in one line. */
  readonly title: string;
  readonly url: string;
}

/** Chromium answers to an address alone. */
export const cdpHost = '127.0.0.1:9222';

const timeoutMs = 5_000;
const maxTabs = 50;
const maxTitle = 200;
const maxUrl = 2_000;
/** An address may have 2 MB, and a list names it several times; a longer list shows no tabs. */
const listBounds = { bytes: 1024 * 1024, depth: 4, elements: 10_000 };
const tabId = /^[0-9A-F]{16,64}$/i;

export const isTabId = (id: unknown): id is string => typeof id === 'string' && tabId.test(id);

/** Returns the tabs, the one that was used last first. */
export async function listTabs(dial: DialCdp, signal: AbortSignal): Promise<readonly Tab[]> {
  const found = boundedJson(await ask(dial, 'GET', '/json/list', signal), listBounds);
  if (!Array.isArray(found)) throw new Error('the browser has no list of tabs');
  return found
    .map(tabOf)
    .filter((tab) => tab !== null)
    .slice(0, maxTabs);
}

/** Opens a tab, and returns its id. */
export async function openTab(dial: DialCdp, url: string, signal: AbortSignal): Promise<string> {
  const made = boundedJson(await ask(dial, 'PUT', `/json/new?${encodeURIComponent(url)}`, signal), listBounds);
  const id = asObject(made)?.['id'];
  if (!isTabId(id)) throw new Error('the browser opened no tab');
  return id;
}

/** Brings a tab to the front, or closes it. */
export async function tabAct(dial: DialCdp, act: 'activate' | 'close', id: string, signal: AbortSignal): Promise<void> {
  await ask(dial, 'GET', `/json/${act}/${id}`, signal);
}

function tabOf(value: unknown): Tab | null {
  const { id, type, title, url } = asObject(value) ?? {};
  if (!isTabId(id) || type !== 'page') return null;
  return { id, title: oneLine(title, maxTitle), url: oneLine(url, maxUrl) };
}

/** A text of the guest's as one short line; empty for anything else. */
export const oneLine = (text: unknown, most: number): string =>
  typeof text === 'string'
    ? text
        .slice(0, most)
        .toWellFormed()
        .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ' ')
        .trim()
    : '';

async function ask(dial: DialCdp, method: string, path: string, outer: AbortSignal): Promise<Buffer> {
  const signal = AbortSignal.any([outer, AbortSignal.timeout(timeoutMs)]);
  const connection = await dial(signal);
  try {
    return await answerTo(connection, { method, path, signal });
  } finally {
    connection.destroy();
  }
}

async function answerTo(
  connection: Duplex,
  { method, path, signal }: { readonly method: string; readonly path: string; readonly signal: AbortSignal },
): Promise<Buffer> {
  const request = httpRequest({
    createConnection: () => connection,
    method,
    path,
    headers: { host: cdpHost, connection: 'close' },
    maxHeaderSize: 16 * 1024,
    signal,
  });
  const reply = new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve);
    request.once('error', reject);
    request.once('close', () => reject(new Error('the browser closed without a reply')));
  });
  request.end();
  const { statusCode } = await reply;
  if (statusCode !== 200) throw new Error(`the browser answered ${statusCode}`);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of (await reply) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > listBounds.bytes) throw new Error(`the browser's answer has more than ${listBounds.bytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, bytes);
}
