/**
 * A stub for LLM providers: a real HTTP server that speaks OpenAI's chat completions and responses, Anthropic's
 * messages and Google's generateContent, streaming and not, does what it is scripted to do, and records what it saw.
 *
 *     const llm = await startStubLlm({ keys: ['k'] });
 *     llm.script([{ toolCalls: [{ name: 'exec', arguments: { command: 'date' } }] }, { text: 'done' }]);
 *     … a client with base URL llm.openaiBaseUrl …
 *     llm.requests[0].body
 *     await llm.close();
 *
 * A request is answered by the next scripted answer, else by the first rule that has one, else by a short text that
 * repeats the last user message.
 */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Exchange, readText } from './exchange.ts';
import { breachOf } from './strict.ts';
import type { Answer, LedgerEntry, Reply, StubRequest } from './types.ts';

export type { Answer, LedgerEntry, Reply, StubRequest, ToolCall, Usage, Wire } from './types.ts';

export interface StubLlmOptions {
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default 0: any free port. */
  readonly port?: number;
  /** Keys it takes; a request without one of them gets the provider's 401. Default: it asks for none. */
  readonly keys?: readonly string[];
  /** Refuses (400) a request with a header or a field that its API, as published, does not have. */
  readonly strict?: boolean;
}

export interface StubLlm {
  readonly host: string;
  readonly port: number;
  /** Base URL as OpenAI clients want it: `…/v1`. */
  readonly openaiBaseUrl: string;
  /** Base URL as Anthropic clients want it: without `/v1`. */
  readonly anthropicBaseUrl: string;
  /** Base URL as Google's clients want it: `…/v1beta`. */
  readonly googleBaseUrl: string;
  /** The usage of each answered request, oldest first: the last hundred thousand. */
  readonly ledger: readonly LedgerEntry[];
  /** The received requests, oldest first: the last thousand. */
  readonly requests: readonly StubRequest[];
  /** Appends answers for the requests to come, one each. */
  script(answers: readonly Answer[]): void;
  /** Answers every unscripted request it returns a reply for. Rules are asked in the order they were added. */
  rule(rule: (request: StubRequest) => Reply | undefined): void;
  /** Drops script and rules, and forgets the requests. */
  reset(): void;
  /** Lets all replies that hang go on. */
  release(): void;
  /** Ends all connections and frees the port. */
  close(): Promise<void>;
}

const maxRequests = 1000;
const maxEntries = 100_000;
const echoLength = 500;

export async function startStubLlm(options: StubLlmOptions = {}): Promise<StubLlm> {
  const { host = '127.0.0.1', port = 0 } = options;
  const provider = new StubProvider(options.keys ? new Set(options.keys) : null, options.strict ?? false);
  const server = createServer((req, res) => {
    provider.serve(req, res).catch((error: unknown) => {
      // A scripted function threw, or the client broke off its own request: a test must see this, not hang.
      if (!res.headersSent) res.writeHead(500, { 'content-type': 'text/plain' });
      res.end(`stub LLM: ${String(error)}`);
    });
  });
  server.listen(port, host);
  await once(server, 'listening');
  const bound = (server.address() as AddressInfo).port;
  const origin = `http://${host.includes(':') ? `[${host}]` : host}:${bound}`;
  return {
    host,
    port: bound,
    openaiBaseUrl: `${origin}/v1`,
    anthropicBaseUrl: origin,
    googleBaseUrl: `${origin}/v1beta`,
    ledger: provider.ledger,
    requests: provider.requests,
    script: (answers) => void provider.scripted.push(...answers),
    rule: (rule) => void provider.rules.push(rule),
    reset: () => provider.reset(),
    release: () => provider.release(),
    async close() {
      provider.release();
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

class StubProvider {
  readonly requests: StubRequest[] = [];
  readonly ledger: LedgerEntry[] = [];
  readonly scripted: Answer[] = [];
  readonly rules: ((request: StubRequest) => Reply | undefined)[] = [];
  readonly #keys: ReadonlySet<string> | null;
  readonly #strict: boolean;
  #released = Promise.withResolvers<void>();

  constructor(keys: ReadonlySet<string> | null, strict: boolean) {
    this.#keys = keys;
    this.#strict = strict;
  }

  async serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const exchange = new Exchange(req, res, await readText(req));
    const { request } = exchange;
    this.requests.push(request);
    if (this.requests.length > maxRequests) this.requests.shift();
    if (req.method === 'GET' && request.path.endsWith('/models')) {
      if (exchange.refuseKey(this.#keys)) return;
      const data = [{ id: 'stub', object: 'model', created: 0, owned_by: 'stub' }];
      const raw = { contentType: 'application/json', body: JSON.stringify({ object: 'list', data }) };
      return exchange.send({ raw }, null);
    }
    const known = /\/(chat\/completions|responses|messages)$|:(g|streamG)enerateContent$/.test(request.path);
    if (req.method !== 'POST' || !known) return exchange.send({ status: 404 }, null);
    if (exchange.refuseKey(this.#keys) || exchange.refuse(this.#strict ? breachOf : () => null)) return;
    // Taken before the answer is made, so that one release also frees those that are about to hang.
    const released = this.#released.promise;
    const reply = await this.#answer(request);
    const sent = exchange.send(reply, released);
    await sent;
    this.#enter(request, reply);
  }

  #enter({ wire, model, key, stream, usage, ended, body }: StubRequest, reply: Reply): void {
    if (usage === null) return;
    const asked = wire !== 'openai' || !stream || body?.stream_options?.include_usage === true;
    this.ledger.push({ wire, model, key, stream, usage, reported: asked && !reply.noUsage, ended });
    if (this.ledger.length > maxEntries) this.ledger.shift();
  }

  async #answer(request: StubRequest): Promise<Reply> {
    const scripted = this.scripted.shift();
    if (typeof scripted === 'function') return scripted(request);
    if (scripted) return scripted;
    for (const rule of this.rules) {
      const reply = rule(request);
      if (reply) return reply;
    }
    return { text: `You said: ${request.lastUserText.slice(0, echoLength)}` };
  }

  release(): void {
    this.#released.resolve();
    this.#released = Promise.withResolvers();
  }

  reset(): void {
    this.scripted.length = 0;
    this.rules.length = 0;
    this.requests.length = 0;
    this.ledger.length = 0;
  }
}
