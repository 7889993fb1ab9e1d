/** Somebody whose agents share the box with hostile ones: chats, reads and makes agents, one request after another of each kind. */
import { setTimeout as sleep } from 'node:timers/promises';

export const requestKinds = ['chat', 'list', 'create'] as const;
export type RequestKind = (typeof requestKinds)[number];

/** How often each kind is asked, in ms from the end of one to the next. */
const pauses: Readonly<Record<RequestKind, number>> = { chat: 100, list: 50, create: 1000 };
const timeoutMs = 60_000;

export interface Figures {
  readonly count: number;
  readonly failures: readonly string[];
  /** Milliseconds; NaN where nothing was asked. */
  readonly p50: number;
  readonly p99: number;
  readonly worst: number;
}

interface Target {
  readonly baseUrl: string;
  readonly key: string;
  readonly agentId: string;
}

export class Bystander {
  readonly #target: Target;
  #times = new Map<RequestKind, number[]>();
  #failures: string[] = [];
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

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  /** What came of the requests since the last call, by kind. */
  take(): Record<RequestKind, Figures> {
    const [times, failures] = [this.#times, this.#failures];
    this.#times = new Map();
    this.#failures = [];
    const of = (kind: RequestKind): Figures =>
      figuresOf(
        times.get(kind) ?? [],
        failures.filter((failure) => failure.startsWith(kind)),
      );
    return { chat: of('chat'), list: of('list'), create: of('create') };
  }

  async #repeat(kind: RequestKind, work: () => Promise<void>): Promise<void> {
    while (!this.#stopped) {
      const began = performance.now();
      try {
        await work();
      } catch (error) {
        if (this.#failures.length < 100) this.#failures.push(`${kind}: ${String(error).slice(0, 300)}`);
      }
      const times = this.#times.get(kind) ?? [];
      times.push(performance.now() - began);
      this.#times.set(kind, times);
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
    this.#removals.push(
      this.#expect('DELETE', `/agents/${id}`, 200).catch((error: unknown) => {
        this.#failures.push(`create: removal: ${String(error)}`);
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
  return { count: sorted.length, failures, p50: at(0.5), p99: at(0.99), worst: sorted.at(-1) ?? NaN };
}
