import { SendFailure } from '@lodge/ports';
import type { ProgressLimits, ProgressMessages, ProgressTarget } from '@lodge/ports';
import { callSlack, SlackError } from './calls.ts';
import type { SlackAnswer, SlackApi } from './calls.ts';
import { isTs, placeOf } from './places.ts';
import { sendFailureOf } from './reasons.ts';
import { mrkdwnOf } from './render.ts';
import { sentOf, target } from './send.ts';

/** chat.update and chat.delete are of tier 3: 50 calls a minute of an app; docs.slack.dev/apis/web-api/rate-limits. */
export const progressLimits: ProgressLimits = { editEveryMs: 5_000, gapMs: 1_500 };

/** Messages in Slack's own marks: what could ring somebody is escaped, and no name is looked for in them. */
export class SlackProgress implements ProgressMessages {
  private readonly api: SlackApi;
  private readonly token: string;

  constructor(api: SlackApi, token: string) {
    this.api = api;
    this.token = token;
  }

  async post(to: ProgressTarget, text: string, signal: AbortSignal): Promise<{ readonly id: string }> {
    const shown = { text: mrkdwnOf(text), unfurl_links: false, unfurl_media: false };
    const place = target(placeOf(to.conversationId), 'channel');
    const answer = await this.call('chat.postMessage', { ...place, ...shown }, signal);
    return sentOf(answer?.['ts']);
  }

  async edit(to: ProgressTarget, id: string, text: string, signal: AbortSignal): Promise<void> {
    // Unlike a post, an update looks for names unless an option prevents it.
    await this.call('chat.update', { ...messageOf(to, id), text: mrkdwnOf(text), parse: 'none' }, signal);
  }

  async remove(to: ProgressTarget, id: string, signal: AbortSignal): Promise<void> {
    await this.call('chat.delete', messageOf(to, id), signal, 'message_not_found');
  }

  /** `done`: the word of a refusal that says that there is nothing to do. */
  private async call(method: string, args: object, signal: AbortSignal, done?: string): Promise<SlackAnswer | null> {
    try {
      return await callSlack(this.api, this.token, method, { ...args }, signal);
    } catch (error) {
      if (error instanceof SlackError && error.kind === 'refused' && error.code === done) return null;
      throw sendFailureOf(error);
    }
  }
}

function messageOf(to: ProgressTarget, ts: string): { readonly channel: string; readonly ts: string } {
  if (!isTs(ts)) throw new SendFailure('refused', 'This is no message of Slack.');
  return { channel: placeOf(to.conversationId).channel, ts };
}
