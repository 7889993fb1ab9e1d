import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { isJsonObject } from '@lodge/domain';
import { SendFailure } from '@lodge/ports';
import type { OutboundPart, SendTarget } from '@lodge/ports';
import { request } from 'undici';
import { idOf, plainName, textOf } from '../shared/plain.ts';
import { callSlack, listOf, SlackError } from './calls.ts';
import type { SlackAnswer, SlackApi } from './calls.ts';
import { formsOf, refusedBlocks } from './choices.ts';
import { isSlackUrl } from './files.ts';
import { placeOf } from './places.ts';
import type { Place } from './places.ts';
import { sendFailureOf } from './reasons.ts';
import { mrkdwnOf } from './render.ts';

export interface Sender {
  readonly api: SlackApi;
  readonly token: string;
  /** How long after an unclear answer the history is looked at. */
  readonly lookAgainMs: number;
}

type Sent = { readonly id: string };

/** Rejects with a `SendFailure`. */
export async function sendPart(
  sender: Sender,
  to: Pick<SendTarget, 'conversationId'>,
  part: OutboundPart,
  key: string,
  signal: AbortSignal,
): Promise<Sent> {
  const place = placeOf(to.conversationId);
  try {
    return part.kind === 'text'
      ? await sendText(sender, place, part, key, signal)
      : await sendFile(sender, place, part, signal);
  } catch (error) {
    throw sendFailureOf(error);
  }
}

/** Refusals of Markdown rather than of the message: it is sent once more with Slack's own marks. */
const refusedMarkdown = new Set([...refusedBlocks, 'markdown_text_conflict', 'unknown_argument']);

async function sendText(
  sender: Sender,
  place: Place,
  part: Extract<OutboundPart, { readonly kind: 'text' }>,
  key: string,
  signal: AbortSignal,
): Promise<Sent> {
  const { text, format, choices } = part;
  const [first, ...others] =
    choices === undefined ? [format === 'markdown' ? { markdown_text: text } : { text }] : formsOf(part, choices);
  try {
    return await post(sender, place, first!, key, signal);
  } catch (error) {
    const isRefusal = error instanceof SlackError && error.kind === 'refused' && refusedMarkdown.has(error.code);
    if (!isRefusal || format !== 'markdown') throw error;
    return post(sender, place, others[0] ?? { text: mrkdwnOf(text) }, key, signal);
  }
}

async function post(sender: Sender, place: Place, shown: object, key: string, signal: AbortSignal): Promise<Sent> {
  const args = {
    ...target(place, 'channel'),
    ...shown,
    unfurl_links: false,
    unfurl_media: false,
    metadata: { event_type: partEvent, event_payload: { key } },
  };
  try {
    const answer = await callSlack(sender.api, sender.token, 'chat.postMessage', args, signal);
    return sentOf(answer['ts']);
  } catch (error) {
    if (!(error instanceof SlackError) || error.kind !== 'unclear') throw error;
    const found = await findSent(sender, place, key, signal).catch(() => null);
    if (found === null) throw error;
    return found;
  }
}

const partEvent = 'lodge_part';

/** A message that was sent without an answer stands in the history, with the key of its part. */
async function findSent(
  { api, token, lookAgainMs }: Sender,
  place: Place,
  key: string,
  signal: AbortSignal,
): Promise<Sent | null> {
  await sleep(lookAgainMs, undefined, { signal });
  const method = place.threadTs === null ? 'conversations.history' : 'conversations.replies';
  const oldest = String(Math.floor(Date.now() / 1000) - 300);
  const args = {
    channel: place.channel,
    ...(place.threadTs !== null && { ts: place.threadTs }),
    oldest,
    limit: 100,
    include_all_metadata: true,
  };
  const answer = await callSlack(api, token, method, args, signal);
  for (const each of listOf(answer['messages'], 100)) {
    if (isJsonObject(each) && keyOf(each) === key) return sentOf(each['ts']);
  }
  return null;
}

function keyOf({ metadata }: SlackAnswer): unknown {
  if (!isJsonObject(metadata) || metadata['event_type'] !== partEvent) return null;
  return isJsonObject(metadata['event_payload']) ? metadata['event_payload']['key'] : null;
}

/** Nothing is seen of a file before the last of three calls. */
async function sendFile(
  { api, token }: Sender,
  place: Place,
  part: Extract<OutboundPart, { kind: 'file' }>,
  signal: AbortSignal,
): Promise<Sent> {
  const filename = plainName(part.name, 'file');
  const asked = { filename, length: part.bytes };
  const answer = await beforeSent(callSlack(api, token, 'files.getUploadURLExternal', asked, signal));
  const id = idOf(answer['file_id'], 40);
  const url = textOf(answer['upload_url'], 2_000);
  if (id === null || !isSlackUrl(url, api)) throw new SendFailure('retry', 'Slack gave no place for the file.');
  await upload(url, part, signal);
  const done = { files: [{ id, title: filename }], ...target(place, 'channel_id') };
  await callSlack(api, token, 'files.completeUploadExternal', done, signal);
  return { id };
}

/** After an unclear result of a call that shows nothing, the message was surely not sent. */
async function beforeSent(call: Promise<SlackAnswer>): Promise<SlackAnswer> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof SlackError && error.kind === 'unclear')
      throw new SendFailure('retry', 'Slack did not take the file.');
    throw error;
  }
}

async function upload(url: string, part: Extract<OutboundPart, { kind: 'file' }>, signal: AbortSignal): Promise<void> {
  try {
    const { statusCode, body } = await request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream', 'content-length': String(part.bytes) },
      body: Readable.from(part.open(), { objectMode: false }),
      signal,
    });
    await body.dump({ limit: 16 * 1024 });
    if (statusCode !== 200) throw new Error(`status ${statusCode}`);
  } catch {
    throw new SendFailure('retry', 'Slack did not take the file.');
  }
}

export const target = ({ channel, threadTs }: Place, field: 'channel' | 'channel_id'): object => ({
  [field]: channel,
  ...(threadTs !== null && { thread_ts: threadTs }),
});

export function sentOf(ts: unknown): Sent {
  const id = idOf(ts);
  if (id === null) throw new SendFailure('unknown', 'Slack did not name the message.');
  return { id };
}
