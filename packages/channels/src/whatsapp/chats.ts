/** Conversations that wrote to the agent, which are the only ones that it writes to; and names of groups. */
import type { DeviceKeys } from './device/keys.ts';

const chatRows = 'chat';
const maxKnown = 500;
const titleForMs = 60 * 60_000;

export type ChatRow = Parameters<DeviceKeys['write']>[0][number];

export class Chats {
  private readonly keys: DeviceKeys;
  /** By conversation: the jid that its last message came by. */
  private readonly known = new Map<string, string>();
  private readonly titles = new Map<string, { readonly title: string | null; readonly until: number }>();

  constructor(keys: DeviceKeys) {
    this.keys = keys;
  }

  /** The rows to store with a message of this conversation; empty when they are stored already. */
  rowsOf(conversation: string, jid: string): readonly ChatRow[] {
    if (this.known.get(conversation) === jid) return [];
    this.remember(conversation, jid);
    return [{ type: chatRows, id: conversation, value: jid }];
  }

  /** Where to write for a conversation; null: it never wrote. */
  async jidOf(conversation: string): Promise<string | null> {
    const known = this.known.get(conversation);
    if (known !== undefined) return known;
    const jid = await this.keys.row(chatRows, conversation);
    if (jid !== null) this.remember(conversation, jid);
    return jid;
  }

  /** A write failed: what was remembered may not be kept. */
  forget(): void {
    this.known.clear();
  }

  /** The name of a group as far as it is known; one that is not is asked for, for the next time. */
  titleOf(group: string, ask: () => Promise<string>): string | null {
    const known = this.titles.get(group);
    if (known && known.until > Date.now()) return known.title;
    this.setTitle(group, known?.title ?? null);
    void ask().then(
      (title) => this.setTitle(group, title),
      () => undefined,
    );
    return known?.title ?? null;
  }

  private setTitle(group: string, title: string | null): void {
    this.titles.delete(group);
    this.titles.set(group, { title, until: Date.now() + titleForMs });
    dropOldest(this.titles);
  }

  private remember(conversation: string, jid: string): void {
    this.known.delete(conversation);
    this.known.set(conversation, jid);
    dropOldest(this.known);
  }
}

function dropOldest(map: Map<string, unknown>): void {
  for (const key of map.keys()) {
    if (map.size <= maxKnown) return;
    map.delete(key);
  }
}
