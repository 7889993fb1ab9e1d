/**
 * Conversations as this browser keeps them: a list for each agent, and the turns of each conversation, bounded. Those of another
 * account are removed when somebody else signs in.
 */
import { conversationPrefix } from '../../../forget.ts';
import { isRunning } from './conversation.ts';
import type { Conversation, Turn } from './conversation.ts';

const maxConversations = 50;
const maxTurns = 100;
const maxConversationChars = 400_000;

export class ChatStorage {
  readonly #list: string;

  constructor(accountId: string, agentId: string) {
    removeOthers(`${conversationPrefix}${accountId}:`);
    this.#list = `${conversationPrefix}${accountId}:${agentId}`;
  }

  conversations(): readonly Conversation[] {
    return (readArray(this.#list) as readonly Conversation[]).filter(
      ({ id, name }) => typeof id === 'string' && typeof name === 'string',
    );
  }

  turns(id: string): readonly Turn[] {
    return (readArray(this.#keyOf(id)) as readonly Turn[]).filter(
      ({ said, parts }) => typeof said === 'string' && Array.isArray(parts),
    );
  }

  saveConversations(conversations: readonly Conversation[]): void {
    const kept = [...conversations].sort((a, b) => b.at.localeCompare(a.at)).slice(0, maxConversations);
    for (const { id } of this.conversations()) {
      if (!kept.some((one) => one.id === id)) browserStorage().removeItem(this.#keyOf(id));
    }
    write(this.#list, JSON.stringify(kept));
  }

  /** Another tab may have turns that this one does not know. */
  saveTurns(id: string, turns: readonly Turn[]): void {
    const own = new Set(turns.map((turn) => turn.id));
    const all = [...this.turns(id).filter((turn) => !own.has(turn.id)), ...turns];
    const kept = all.sort((a, b) => a.at.localeCompare(b.at)).slice(-maxTurns);
    let json = JSON.stringify(kept);
    while (json.length > maxConversationChars && kept.length > 1) {
      kept.shift();
      json = JSON.stringify(kept);
    }
    write(this.#keyOf(id), json);
  }

  remove(id: string): void {
    browserStorage().removeItem(this.#keyOf(id));
    this.saveConversations(this.conversations().filter((one) => one.id !== id));
  }

  /** Calls when another tab has changed the list, or the turns of a conversation. */
  watch(onChange: (id: string | undefined) => void): void {
    window.addEventListener('storage', ({ key }) => {
      if (key === this.#list) onChange(undefined);
      else if (key?.startsWith(`${this.#list}:`) === true) onChange(key.slice(this.#list.length + 1));
    });
  }

  #keyOf(id: string): string {
    return `${this.#list}:${id}`;
  }
}

/** A turn that was running when its page ended has nobody to bring its end. */
export const afterReload = (turns: readonly Turn[]): readonly Turn[] =>
  turns.map((turn) => (isRunning(turn) ? { ...turn, state: 'cut' } : turn));

/** The browser may refuse storage. Conversations then live as long as the page. */
function browserStorage(): Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> {
  try {
    return localStorage;
  } catch {
    return { getItem: () => null, setItem: () => undefined, removeItem: () => undefined };
  }
}

function readArray(key: string): readonly object[] {
  try {
    const read: unknown = JSON.parse(browserStorage().getItem(key) ?? '[]');
    return Array.isArray(read) ? read.filter((one) => typeof one === 'object' && one !== null) : [];
  } catch {
    return [];
  }
}

/** Without room for it the conversation goes on, and is not kept. */
function write(key: string, value: string): void {
  try {
    browserStorage().setItem(key, value);
  } catch {
    browserStorage().removeItem(key);
  }
}

function removeOthers(own: string): void {
  for (const key of Object.keys(browserStorage())) {
    if (key.startsWith(conversationPrefix) && !key.startsWith(own)) browserStorage().removeItem(key);
  }
}
