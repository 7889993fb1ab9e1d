/**
 * One of the three servers of the broker's benchmark, as a process of its own so that its CPU is its own: the provider's
 * stub, a bare pass-through with undici, or the broker on a real store. Reports its port, and on request its CPU and memory.
 */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSecretBox } from '@lodge/access';
import { createBroker, createPriceBook, parseOperatorProviders } from '@lodge/broker';
import { createCallLedger } from '@lodge/engine';
import { openStore } from '@lodge/store';
import { Agent, request } from 'undici';

export interface ServerOptions {
  readonly role: 'stub' | 'bare' | 'broker';
  /** Address of the stub provider. */
  readonly provider?: string;
  readonly database?: string;
  /** The master key, base64. */
  readonly key?: string;
}

export interface Figures {
  /** CPU time since the process began, µs. */
  readonly cpu: number;
  /** Heap after a garbage collection, MiB. */
  readonly heapMib: number;
  readonly rssMib: number;
}

const options = JSON.parse(process.argv[2]!) as ServerOptions;
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const plenty = 1_000_000;

/** Streams as many events as the body's `max_tokens`, one every `seed` milliseconds. */
async function serveStub(): Promise<number> {
  const event = (delta: object): string =>
    `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`;
  const chunk = event({ content: ' the words of a token or two' });
  const usage = `data: {"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":50,"total_tokens":150}}\n\ndata: [DONE]\n\n`;
  return listening(async (req, res) => {
    let body = '';
    for await (const part of req) body += String(part);
    const { max_tokens: chunks, seed: pauseMs } = JSON.parse(body) as { max_tokens: number; seed: number };
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    for (let n = 0; n < chunks; n += 1) {
      res.write(chunk);
      await (pauseMs > 0 ? sleep(pauseMs) : new Promise(setImmediate));
      if (res.destroyed) return;
    }
    res.end(usage);
  });
}

async function serveBare(): Promise<number> {
  const dispatcher = new Agent();
  return listening(async (req, res) => {
    const parts: Buffer[] = [];
    for await (const part of req as AsyncIterable<Buffer>) parts.push(part);
    const headers = { 'content-type': 'application/json', authorization: 'Bearer k' };
    const url = `${options.provider}/chat/completions`;
    const response = await request(url, { method: 'POST', headers, body: Buffer.concat(parts), dispatcher });
    res.writeHead(response.statusCode, { 'content-type': String(response.headers['content-type']) });
    await pipeline(response.body, res).catch(() => {});
  });
}

async function serveBroker(): Promise<number> {
  const providers = parseOperatorProviders(
    JSON.stringify([{ id: 'acme', base_url: options.provider, needs_key: true }]),
  );
  const store = await openStore({ connectionString: options.database!, log: silent });
  const ledger = createCallLedger(store.database, 'bench');
  const broker = createBroker({
    directory: store.directoryOf('bench'),
    secrets: createSecretBox(Buffer.from(options.key!, 'base64')),
    ledger,
    prices: createPriceBook(providers, new Map()),
    providers,
    limits: {
      callsPerAgent: plenty,
      callsPerAccount: plenty,
      calls: plenty,
      callsPerAgentPerMinute: plenty,
      connectionsPerAddress: plenty,
      heldBytesPerAccount: 1024 * plenty,
      heldBytes: 1024 * plenty,
      bytesPerAgentPerMinute: 1024 * plenty,
    },
    log: { ...silent, warn: (fields, message) => console.error(message, fields) },
  });
  return (await broker.listen({ host: '127.0.0.1', port: 0 })).port;
}

function listening(serve: (req: IncomingMessage, res: ServerResponse) => Promise<void>): Promise<number> {
  const server = createServer((req, res) => void serve(req, res));
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

const serve = { stub: serveStub, bare: serveBare, broker: serveBroker }[options.role];
process.send!(await serve());
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  globalThis.gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  const figures: Figures = { cpu: user + system, heapMib: heapUsed / 2 ** 20, rssMib: rss / 2 ** 20 };
  process.send!(figures);
});
process.on('disconnect', () => process.exit());
