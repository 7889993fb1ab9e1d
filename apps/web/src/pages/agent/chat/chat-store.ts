/**
 * The conversations with one agent. It lives as long as the tab, so an answer goes on coming while the reader looks at another
 * page of the dashboard.
 *
 * A turn is `waking` or `working` from the send on, and ends as `done`, `stopped`, `cut` or `failed`. The words so far stay in
 * each case. A turn can be sent again, in its place.
 */
import { hasCode } from '../../../api.ts';
import { onForget } from '../../../forget.ts';
import { ask, countCost, Cut, problemOf } from './ask.ts';
import { isRunning, nameOf, newId, withStep, withText } from './conversation.ts';
import type { Conversation, SentFile, Turn } from './conversation.ts';
import { afterReload, ChatStorage } from './storage.ts';

/** Words that come within this time are shown together. */
const showMs = 50;
const saveMs = 1000;

export interface Question {
  readonly said: string;
  readonly files: readonly SentFile[];
  readonly member: string | null;
  /** Whether the agent has to be woken first. */
  readonly asleep: boolean;
}

export interface ChatState {
  readonly conversations: readonly Conversation[];
  readonly turns: Readonly<Record<string, readonly Turn[]>>;
}

interface Running {
  readonly stop: AbortController;
  readonly begun: number;
  text: string;
  showTimer: ReturnType<typeof setTimeout> | undefined;
  savedAt: number;
}

export class ChatStore {
  readonly #agentId: string;
  readonly #storage: ChatStorage;
  readonly #listeners = new Set<() => void>();
  readonly #running = new Map<string, Running>();
  #state: ChatState;
  #isClosed = false;
  /** Called after each turn, and when the session has ended. */
  onEnded: (error: unknown) => void = () => undefined;

  constructor(accountId: string, agentId: string) {
    this.#agentId = agentId;
    this.#storage = new ChatStorage(accountId, agentId);
    this.#state = { conversations: this.#storage.conversations(), turns: {} };
    this.#storage.watch((id) => this.#reread(id));
    window.addEventListener('pagehide', () => {
      for (const id of this.#running.keys()) this.#storage.saveTurns(id, afterReload(this.#state.turns[id] ?? []));
    });
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly snapshot = (): ChatState => this.#state;

  /** Reads a conversation's turns from the browser, once. */
  open(id: string): void {
    if (this.#state.turns[id] === undefined) this.#setTurns(id, afterReload(this.#storage.turns(id)));
  }

  /** Says something in a conversation, which begins with it if there is none of the id. One turn runs at a time in each. */
  say(id: string, question: Question): void {
    this.open(id);
    if (this.#running.has(id)) return;
    const { said, files, member, asleep } = question;
    const turn: Turn = {
      id: newId(),
      at: new Date().toISOString(),
      said,
      files,
      member,
      parts: [],
      state: asleep ? 'waking' : 'working',
    };
    this.#setTurns(id, [...(this.#state.turns[id] ?? []), turn]);
    this.#touch(id, said, turn.at);
    void this.#run(id, turn);
  }

  /** Sends a turn again. Its answer so far gives way. */
  again(id: string, turnId: string, asleep: boolean): void {
    const old = this.#state.turns[id]?.find((turn) => turn.id === turnId);
    if (old === undefined || this.#running.has(id)) return;
    const { at, said, files, member } = old;
    const turn: Turn = { id: turnId, at, said, files, member, parts: [], state: asleep ? 'waking' : 'working' };
    this.#replace(id, turn);
    void this.#run(id, turn);
  }

  /** Whether an answer comes to this tab; another may wait for one, too. */
  isRunning(id: string): boolean {
    return this.#running.has(id);
  }

  stop(id: string): void {
    this.#running.get(id)?.stop.abort();
  }

  rename(id: string, name: string): void {
    this.#setConversations(this.#state.conversations.map((one) => (one.id === id ? { ...one, name } : one)));
  }

  /** Forgets a conversation in this browser. */
  remove(id: string): void {
    this.stop(id);
    this.#storage.remove(id);
    const { [id]: _gone, ...turns } = this.#state.turns;
    this.#set({ turns, conversations: this.#state.conversations.filter((one) => one.id !== id) });
  }

  /** Ends what runs, and keeps nothing more. */
  close(): void {
    this.#isClosed = true;
    for (const { stop } of this.#running.values()) stop.abort();
    this.#set({ conversations: [], turns: {} });
  }

  async #run(id: string, { id: turnId, said, files, member }: Turn): Promise<void> {
    const running: Running = {
      stop: new AbortController(),
      begun: performance.now(),
      text: '',
      showTimer: undefined,
      savedAt: performance.now(),
    };
    this.#running.set(id, running);
    this.#save(id);
    const { signal } = running.stop;
    const cost = countCost(this.#agentId);
    let failure: unknown;
    try {
      await ask({
        agentId: this.#agentId,
        conversationId: id,
        turn: { said, files, member },
        signal,
        onText: (text) => {
          running.text += text;
          running.showTimer ??= setTimeout(() => this.#show(id, turnId, running), showMs);
        },
        onStep: (step) => {
          this.#show(id, turnId, running);
          this.#change(id, turnId, (turn) => withStep(turn, step));
        },
      });
    } catch (error) {
      failure = error;
    }
    this.#show(id, turnId, running);
    this.#running.delete(id);
    const tookMs = Math.round(performance.now() - running.begun);
    this.#change(id, turnId, (turn) => ({ ...ended(turn, failure, signal.aborted), tookMs }));
    this.#save(id);
    this.onEnded(failure);
    const spent = await cost();
    if (spent === undefined || this.#running.has(id)) return;
    this.#change(id, turnId, (turn) => ({ ...turn, cost: spent }));
    this.#save(id);
  }

  /** Shows the words that have come since the last time. */
  #show(id: string, turnId: string, running: Running): void {
    clearTimeout(running.showTimer);
    running.showTimer = undefined;
    const { text } = running;
    if (text === '') return;
    running.text = '';
    this.#change(id, turnId, (turn) => ({ ...withText(turn, text), state: 'working' }));
    if (performance.now() - running.savedAt < saveMs) return;
    running.savedAt = performance.now();
    this.#save(id);
  }

  #touch(id: string, said: string, at: string): void {
    const known = this.#state.conversations.find((one) => one.id === id);
    const others = this.#state.conversations.filter((one) => one.id !== id);
    this.#setConversations([{ id, name: known?.name ?? nameOf(said), at }, ...others]);
  }

  #change(id: string, turnId: string, change: (turn: Turn) => Turn): void {
    const turn = this.#state.turns[id]?.find((one) => one.id === turnId);
    if (turn !== undefined) this.#replace(id, change(turn));
  }

  #replace(id: string, turn: Turn): void {
    this.#setTurns(
      id,
      (this.#state.turns[id] ?? []).map((one) => (one.id === turn.id ? turn : one)),
    );
  }

  #save(id: string): void {
    const turns = this.#state.turns[id];
    if (turns !== undefined && !this.#isClosed) this.#storage.saveTurns(id, turns);
  }

  #reread(id: string | undefined): void {
    if (id === undefined) {
      this.#set({ ...this.#state, conversations: this.#storage.conversations() });
    } else if (!this.#running.has(id) && this.#state.turns[id] !== undefined) {
      this.#setTurns(id, this.#storage.turns(id));
    }
  }

  #setTurns(id: string, turns: readonly Turn[]): void {
    this.#set({ ...this.#state, turns: { ...this.#state.turns, [id]: turns } });
  }

  #setConversations(conversations: readonly Conversation[]): void {
    this.#storage.saveConversations(conversations);
    this.#set({ ...this.#state, conversations });
  }

  #set(state: ChatState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}

function ended(turn: Turn, failure: unknown, wasStopped: boolean): Turn {
  if (!isRunning(turn)) return turn;
  if (wasStopped) return { ...turn, state: 'stopped' };
  if (failure === undefined) return { ...turn, state: 'done' };
  if (failure instanceof Cut) return { ...turn, state: 'cut' };
  return { ...turn, state: 'failed', problem: problemOf(failure) };
}

export const isSignedOut = (error: unknown): boolean => hasCode(error, 'not_signed_in');

const stores = new Map<string, ChatStore>();
onForget(() => {
  for (const store of stores.values()) store.close();
  stores.clear();
});

export function chatOf(accountId: string, agentId: string): ChatStore {
  const key = `${accountId}:${agentId}`;
  const store = stores.get(key) ?? new ChatStore(accountId, agentId);
  stores.set(key, store);
  return store;
}
