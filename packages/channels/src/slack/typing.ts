import { isJsonObject } from '@lodge/domain';
import type { SendTarget } from '@lodge/ports';
import { callSlack } from './calls.ts';
import type { SlackApi } from './calls.ts';
import { isTs, placeOf } from './places.ts';

const reaction = 'eyes';
const maxShown = 100;

type At = Pick<SendTarget, 'conversationId' | 'replyTo'>;

/**
 * The signs that the agent is working. A thread has a status, which an answer takes away. A direct message outside a thread
 * has none, so the message gets a reaction until the answer is there.
 */
export class TypingSigns {
  private readonly api: SlackApi;
  private readonly token: string;
  private readonly reacted = new Set<string>();

  constructor(api: SlackApi, token: string) {
    this.api = api;
    this.token = token;
  }

  async show(to: At, signal: AbortSignal): Promise<void> {
    const { channel, threadTs } = placeOf(to.conversationId);
    if (threadTs !== null) {
      const args = { channel_id: channel, thread_ts: threadTs, status: 'is thinking…' };
      await callSlack(this.api, this.token, 'assistant.threads.setStatus', args, signal);
      return;
    }
    const message = answered(to);
    if (message === null || this.reacted.size >= maxShown || this.reacted.has(message.id)) return;
    this.reacted.add(message.id);
    await callSlack(this.api, this.token, 'reactions.add', { channel, timestamp: message.ts, name: reaction }, signal);
  }

  /** Does not wait, and a failure is no matter. */
  takeBack(to: At, signal: AbortSignal): void {
    const message = answered(to);
    if (message === null || !this.reacted.delete(message.id)) return;
    const { channel } = placeOf(to.conversationId);
    callSlack(
      this.api,
      this.token,
      'reactions.remove',
      { channel, timestamp: message.ts, name: reaction },
      signal,
    ).catch(() => undefined);
  }
}

function answered({ conversationId, replyTo }: At): { readonly id: string; readonly ts: string } | null {
  const ts = isJsonObject(replyTo) ? replyTo['ts'] : null;
  return isTs(ts) ? { id: `${conversationId}:${ts}`, ts } : null;
}
