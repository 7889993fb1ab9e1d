import { SendFailure } from '@lodge/ports';
import type { ProgressLimits, ProgressMessages, ProgressTarget } from '@lodge/ports';
import { MessageFlags } from 'discord-api-types/v10';
import { isSnowflake } from './places.ts';
import { channelOf } from './reader.ts';
import { sendFailureOf } from './reasons.ts';
import { DiscordError } from './rest.ts';
import type { DiscordRest } from './rest.ts';

/** 50 calls a second of a bot, and some five edits in five seconds of a channel; the headers of its replies rule. */
export const progressLimits: ProgressLimits = { editEveryMs: 5_000, gapMs: 500 };

const nobody = { allowed_mentions: { parse: [] } };
const unknownMessage = 10_008;

/** Messages without a sound, without previews, and without mentions that ring anybody. */
export class DiscordProgress implements ProgressMessages {
  private readonly restOf: () => DiscordRest;

  constructor(restOf: () => DiscordRest) {
    this.restOf = restOf;
  }

  async post(to: ProgressTarget, text: string, signal: AbortSignal): Promise<{ readonly id: string }> {
    const flags = MessageFlags.SuppressEmbeds | MessageFlags.SuppressNotifications;
    const sent = await this.call('POST', messagesOf(to), signal, { content: text, flags, ...nobody });
    const { id } = (sent ?? {}) as { readonly id?: unknown };
    if (!isSnowflake(id)) throw new SendFailure('unknown', 'Discord did not name the message.');
    return { id };
  }

  async edit(to: ProgressTarget, id: string, text: string, signal: AbortSignal): Promise<void> {
    await this.call('PATCH', messageOf(to, id), signal, { content: text, ...nobody });
  }

  async remove(to: ProgressTarget, id: string, signal: AbortSignal): Promise<void> {
    await this.call('DELETE', messageOf(to, id), signal, undefined, unknownMessage);
  }

  /** `done`: the code of a refusal that says that there is nothing to do. */
  private async call(
    method: 'POST' | 'PATCH' | 'DELETE',
    path: `/${string}`,
    signal: AbortSignal,
    body?: object,
    done?: number,
  ): Promise<unknown> {
    try {
      return await this.restOf().call(method, path, signal, body && { body });
    } catch (error) {
      if (done !== undefined && error instanceof DiscordError && error.code === done) return null;
      throw sendFailureOf(error);
    }
  }
}

function messagesOf({ conversationId }: ProgressTarget): `/${string}` {
  const channelId = channelOf(conversationId);
  if (channelId === null) throw new SendFailure('refused', 'The Discord channel is not known.');
  return `/channels/${channelId}/messages`;
}

function messageOf(to: ProgressTarget, id: string): `/${string}` {
  if (!isSnowflake(id)) throw new SendFailure('refused', 'This is no message of Discord.');
  return `${messagesOf(to)}/${id}`;
}
