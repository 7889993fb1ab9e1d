import { isJsonObject } from '@lodge/domain';
import { plainName } from '../shared/plain.ts';
import { callSlack } from './calls.ts';
import type { SlackApi } from './calls.ts';

const maxKept = 200;
const keptMs = 60 * 60_000;

export interface SlackChannel {
  /** Null: it has none, or it cannot be had. */
  readonly title: string | null;
  readonly isGroupDm: boolean;
}

/** No name of a channel has a space. */
const groupDm = 'group dm';

/** Names of people and of channels, asked for once an hour. A name that cannot be had is not waited for. */
export class SlackNames {
  private readonly api: SlackApi;
  private readonly token: string;
  private readonly kept = new Map<string, { readonly name: string | null; readonly until: number }>();

  constructor(api: SlackApi, token: string) {
    this.api = api;
    this.token = token;
  }

  async ofUser(id: string, signal: AbortSignal): Promise<string> {
    return (
      (await this.nameOf(`user ${id}`, async () => {
        const { user } = await callSlack(this.api, this.token, 'users.info', { user: id }, signal);
        if (!isJsonObject(user)) return null;
        const profile = isJsonObject(user['profile']) ? user['profile'] : {};
        return firstName(profile['display_name'], user['real_name'], user['name']);
      })) ?? id
    );
  }

  /** A group of direct messages has no name that a person gave it. */
  async ofChannel(id: string, signal: AbortSignal): Promise<SlackChannel> {
    const name = await this.nameOf(`channel ${id}`, async () => {
      const { channel } = await callSlack(this.api, this.token, 'conversations.info', { channel: id }, signal);
      if (!isJsonObject(channel)) return null;
      return channel['is_mpim'] === true ? groupDm : firstName(channel['name']);
    });
    return name === groupDm ? { title: null, isGroupDm: true } : { title: name, isGroupDm: false };
  }

  private async nameOf(key: string, ask: () => Promise<string | null>): Promise<string | null> {
    const known = this.kept.get(key);
    if (known && known.until > Date.now()) return known.name;
    const name = await ask().catch(() => null);
    this.kept.delete(key);
    // A failed name is asked for again soon.
    this.kept.set(key, { name, until: Date.now() + (name === null ? keptMs / 60 : keptMs) });
    const [oldest] = this.kept.keys();
    if (this.kept.size > maxKept) this.kept.delete(oldest!);
    return name;
  }
}

function firstName(...candidates: readonly unknown[]): string | null {
  for (const each of candidates) {
    const name = plainName(each);
    if (name !== '') return name;
  }
  return null;
}
