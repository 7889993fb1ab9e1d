/** Somebody whose agents share the box with hostile ones: chats, reads and makes agents, one request after another of each kind. */
import { setTimeout as sleep } from 'node:timers/promises';

export const requestKinds = ['chat', 'list', 'create'] as const;
export type RequestKind = (typeof requestKinds)[number];

/** How often each kind is asked, in ms from the end of one to the next. Chats stay below the model calls that an agent has in a minute. */
const pauses: Readonly<Record<RequestKind, number>> = { chat: 300, list: 50, create: 1000 };
const timeoutMs = 60_000;

export interface Figures {
  readonly count: number;
  readonly failures: readonly string[];
  /** Milliseconds; NaN where nothing was asked. */
  readonly p50: number;
  readonly p99: number;
  readonly worst: number;
  readonly times: readonly number[];
}

/** All of them as one. */
export function together(all: readonly Figures[]): Figures {
  return figuresOf(
    all.flatMap(({ times }) => times),
    all.flatMap(({ failures }) => failures),
  );
}

interface Target {
  readonly baseUrl: string;
  readonly key: string;
  readonly agentId: string;
}

/** The requests that were begun in one while. */
export class Felt {
  readonly times: Readonly<Record<RequestKind, number[]>> = { chat: [], list: [], create: [] };
  readonly failures: Readonly<Record<RequestKind, string[]>> = { chat: [], list: [], create: [] };

  get figures(): Record<RequestKind, Figures> {
    const of = (kind: RequestKind): Figures => figuresOf(this.times[kind], this.failures[kind]);
    return { chat: of('chat'), list: of('list'), create: of('create') };
  }
}

export class Bystander {
  readonly #target: Target;
  #felt = new Felt();
  #stopped = false;
  #running: Promise<unknown> = Promise.resolve();

  constructor(target: Target) {
    this.#target = target;
  }

  start(): void {
    const work: Record<RequestKind, () => Promise<void>> = {
      chat: () => this.#chat(),
      list: () => this.#expect('GET', '/agents?limit=20', 200),
      create: () => this.#create(),
    };
    this.#running = Promise.all(requestKinds.map((kind) => this.#repeat(kind, work[kind])));
  }

  /** Resolves when the running requests have ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
    await Promise.all(this.#removals);
  }

  /** Effects from here on are measured separately, whenever they end. */
  begin(): Felt {
    this.#felt = new Felt();
    return this.#felt;
  }

  async #repeat(kind: RequestKind, work: () => Promise<void>): Promise<void> {
    while (!this.#stopped) {
      const began = performance.now();
      const felt = this.#felt;
      try {
        await work();
      } catch (error) {
        if (felt.failures[kind].length < 100) felt.failures[kind].push(String(error).slice(0, 300));
      }
      felt.times[kind].push(performance.now() - began);
      await sleep(pauses[kind]);
    }
  }

  async #chat(): Promise<void> {
    const body = { messages: [{ role: 'user', content: 'ping' }] };
    await this.#expect('POST', `/agents/${this.#target.agentId}/chat/completions`, 200, body);
  }

  /** The removal is not a part of what is timed. */
  async #create(): Promise<void> {
    const reply = await this.#ask('POST', '/agents', { name: 'Made', size: 'small' });
    const { id } = (await reply.json()) as { id?: string };
    if (reply.status !== 201) throw new Error(`create answered ${reply.status}`);
    const felt = this.#felt;
    this.#removals.push(
      this.#expect('DELETE', `/agents/${id}`, 200).catch((error: unknown) => {
        felt.failures.create.push(`removal: ${String(error)}`);
      }),
    );
  }

  readonly #removals: Promise<void>[] = [];

  async #expect(method: string, path: string, status: number, body?: object): Promise<void> {
    const reply = await this.#ask(method, path, body);
    const text = await reply.text();
    if (reply.status !== status) throw new Error(`${method} ${path} answered ${reply.status}: ${text.slice(0, 200)}`);
  }

  #ask(method: string, path: string, body?: object): Promise<Response> {
    const { baseUrl, key } = this.#target;
    return fetch(`${baseUrl}${path}`, {
      method,
      headers: { 'x-api-key': key, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(timeoutMs),
    });
  }
}

function figuresOf(times: readonly number[], failures: readonly string[]): Figures {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
  return { count: sorted.length, failures, p50: at(0.5), p99: at(0.99), worst: sorted.at(-1) ?? NaN, times };
}
