/** Buttons below messages; docs.slack.dev/reference/block-kit/block-elements/button-element, .../interaction-payloads/block_actions-payload. */
import { isChoiceToken, isJsonObject } from '@lodge/domain';
import type { Choice } from '@lodge/domain';
import { SendFailure } from '@lodge/ports';
import type { Press, Pressed, RenderedText, SendTarget } from '@lodge/ports';
import { idOf, plainName, textOf } from '../shared/plain.ts';
import { splitMarkdown } from '../shared/split.ts';
import { callSlack, listOf, SlackError } from './calls.ts';
import type { SlackApi } from './calls.ts';
import { isTs, placeId, placeOf } from './places.ts';
import { sendFailureOf } from './reasons.ts';
import { mrkdwnOf } from './render.ts';

interface Access {
  readonly api: SlackApi;
  readonly token: string;
}

/** A section takes 3,000 characters. Slack's marks make a text a little longer. */
const sectionChars = 2_000;

const actionsOf = (choices: readonly Choice[]): object => ({
  type: 'actions',
  elements: choices.map(({ token, label }, at) => ({
    type: 'button',
    action_id: `lodge_${at}`,
    value: token,
    text: { type: 'plain_text', text: label, emoji: false },
  })),
});

/** The forms of a text with choices below it, best first; none of them without a text for notifications. */
export function formsOf({ text, format }: RenderedText, choices: readonly Choice[]): readonly object[] {
  const below = choices.length === 0 ? [] : [actionsOf(choices)];
  const plain = format === 'markdown' ? mrkdwnOf(text) : text;
  const sections = splitMarkdown(text, sectionChars).map((piece) => ({
    type: 'section',
    text: { type: 'mrkdwn', text: format === 'markdown' ? mrkdwnOf(piece) : piece },
  }));
  const markdown = format === 'markdown' ? [{ text: plain, blocks: [{ type: 'markdown', text }, ...below] }] : [];
  return [...markdown, { text: plain, blocks: [...sections, ...below] }];
}

/** Refusals of blocks rather than of the message. */
export const refusedBlocks = new Set([
  'invalid_arguments',
  'invalid_blocks',
  'msg_blocks_too_long',
  'invalid_blocks_format',
]);

/** Rejects with a `SendFailure`. */
export async function closeChoices(
  { api, token }: Access,
  to: Pick<SendTarget, 'conversationId'>,
  ts: string,
  text: RenderedText,
  signal: AbortSignal,
): Promise<void> {
  if (!isTs(ts)) throw new SendFailure('refused', 'This is no message of Slack.');
  const { channel } = placeOf(to.conversationId);
  const forms = formsOf(text, []);
  for (const [at, form] of forms.entries()) {
    try {
      // Unlike a post, an update looks for names unless an option prevents it.
      await callSlack(api, token, 'chat.update', { channel, ts, ...form, parse: 'none' }, signal);
      return;
    } catch (error) {
      const code = error instanceof SlackError && error.kind === 'refused' ? error.code : '';
      if (code === 'message_not_found') return;
      if (at === forms.length - 1 || !refusedBlocks.has(code)) throw sendFailureOf(error);
    }
  }
}

export interface SlackPress {
  readonly press: Press;
  readonly channel: string;
  readonly threadTs: string | null;
  /** The pressed message without its buttons. */
  readonly bare: { readonly text: string; readonly blocks: readonly unknown[] };
}

const maxBlocks = 50;

/** Null for a payload that is no press of a choice in a message. */
export function pressOf(payload: unknown): SlackPress | null {
  if (!isJsonObject(payload) || payload['type'] !== 'block_actions') return null;
  const { user, message, channel: where } = payload;
  const [action] = listOf(payload['actions'], 1);
  if (!isJsonObject(user) || !isJsonObject(message) || !isJsonObject(where) || !isJsonObject(action)) return null;
  const channel = idOf(where['id'], 40);
  const id = idOf(user['id'], 40);
  const token = textOf(action['value'], 65);
  const { ts, thread_ts: thread } = message;
  if (channel === null || id === null || !isTs(ts) || action['type'] !== 'button' || !isChoiceToken(token)) return null;
  const threadTs = isTs(thread) && thread !== ts ? thread : null;
  const blocks = listOf(message['blocks'], maxBlocks);
  return {
    press: {
      token,
      sender: { id, name: plainName(user['name'], plainName(user['username'], id)), isBot: false },
      conversation: {
        id: placeId({ channel, threadTs }),
        kind: channel.startsWith('D') ? 'direct' : 'group',
      },
      messageId: ts,
    },
    channel,
    threadTs,
    bare: {
      text: textOf(message['text'], 40_000) || '…',
      blocks: blocks.filter((block) => isJsonObject(block) && block['type'] !== 'actions'),
    },
  };
}

/** Tells the person alone. */
export async function answerPress(
  { api, token }: Access,
  { press, channel, threadTs, bare }: SlackPress,
  { say, close }: Pressed,
  signal: AbortSignal,
): Promise<void> {
  const told = callSlack(
    api,
    token,
    'chat.postEphemeral',
    { channel, user: press.sender.id, text: mrkdwnOf(say), ...(threadTs !== null && { thread_ts: threadTs }) },
    signal,
  );
  const closed = close
    ? callSlack(api, token, 'chat.update', { channel, ts: press.messageId, ...bare, parse: 'none' }, signal)
    : null;
  await Promise.allSettled([told, closed]);
}
