/**
 * The try-out: a provider of this Lodge's own that costs nothing and asks for no key, so that somebody can make a first agent
 * before they have an account anywhere. It speaks OpenAI's chat completions on the loopback, for the broker alone.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Provider } from '@lodge/ports';
import { isJsonObject } from '@lodge/domain';
import { answerTo } from './conversation.ts';
import type { Answer, Message } from './conversation.ts';

/** A conversation comes from an agent's machine: a larger conversation is none to try out. It is read in a few milliseconds. */
const maxBodyBytes = 1024 * 1024;
const maxAtOnce = 16;
const requestMs = 30_000;
/** Words come as from a model, so that one sees a stream. */
const wordMs = 15;

export interface TryOut {
  readonly provider: Provider;
  close(): Promise<void>;
}

export async function openTryOut(): Promise<TryOut> {
  let open = 0;
  const server = createServer({ requestTimeout: requestMs, maxHeaderSize: 16_384 }, (request, reply) => {
    if (open >= maxAtOnce) return refuse(reply, 429, 'The try-out is busy. Try again in a moment.');
    open += 1;
    reply.once('close', () => (open -= 1));
    serve(request, reply).catch(() => reply.destroy());
  });
  server.maxConnections = 4 * maxAtOnce;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    provider: providerAt(`http://127.0.0.1:${port}/v1`),
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

const nothing = { input: '0', output: '0', cacheRead: '0', cacheWrite: '0' };

const providerAt = (baseUrl: string): Provider => ({
  id: 'tryout',
  name: 'Try-out',
  endpoints: { 'openai-completions': { baseUrl, keyHeader: 'authorization' } },
  api: 'openai-completions',
  needsKey: false,
  keyCheck: null,
  docsUrl: null,
  headers: {},
  models: [{ name: 'echo', contextWindow: null, prices: nothing }],
  onlyModels: true,
  operatorAdded: true,
  privateAddresses: true,
  contextWindow: null,
});

async function serve(request: IncomingMessage, reply: ServerResponse): Promise<void> {
  if (request.method !== 'POST' || request.url !== '/v1/chat/completions') return refuse(reply, 404, 'Invalid URL.');
  const body = await read(request);
  if (body === null) return refuse(reply, 413, 'The conversation is too long for the try-out.');
  const asked = parse(body);
  if (asked === null) return refuse(reply, 400, "Missing required parameter: 'messages'.");
  const answer = answerTo(asked.messages, asked.tools);
  const head = { id: `chatcmpl-${randomUUID()}`, created: Math.floor(Date.now() / 1000), model: 'echo' };
  const usage = usageOf(body, answer);
  if (asked.streams) return stream(reply, { head, answer, usage });
  reply.setHeader('content-type', 'application/json');
  const choice = { index: 0, message: messageOf(answer), finish_reason: finishOf(answer) };
  reply.end(JSON.stringify({ ...head, object: 'chat.completion', choices: [choice], usage }));
}

async function read(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBodyBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

interface Asked {
  readonly messages: readonly Message[];
  readonly tools: readonly string[];
  readonly streams: boolean;
}

function parse(body: Buffer): Asked | null {
  let value: unknown;
  try {
    value = JSON.parse(body.toString());
  } catch {
    return null;
  }
  if (!isJsonObject(value) || !Array.isArray(value['messages'])) return null;
  const tools = Array.isArray(value['tools']) ? (value['tools'] as readonly unknown[]) : [];
  const names = tools.map((tool) => (tool as { function?: { name?: unknown } } | null)?.function?.name);
  return {
    messages: (value['messages'] as readonly unknown[]).filter(isJsonObject),
    tools: names.filter((name) => typeof name === 'string'),
    streams: value['stream'] === true,
  };
}

interface Streamed {
  readonly head: object;
  readonly answer: Answer;
  readonly usage: object;
}

async function stream(reply: ServerResponse, { head, answer, usage }: Streamed): Promise<void> {
  reply.setHeader('content-type', 'text/event-stream');
  const send = (more: object): void => {
    reply.write(`data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...more })}\n\n`);
  };
  const delta = (change: object, finish: string | null = null): void =>
    send({ choices: [{ index: 0, delta: change, finish_reason: finish }] });
  delta({ role: 'assistant', content: '' });
  if ('tool' in answer) {
    delta({ tool_calls: [{ index: 0, ...callOf(answer) }] });
  } else {
    for (const piece of answer.text.split(/(?<=\s)/)) {
      if (reply.destroyed) return;
      delta({ content: piece });
      await new Promise((resolve) => setTimeout(resolve, wordMs));
    }
  }
  delta({}, finishOf(answer));
  send({ choices: [], usage });
  reply.end('data: [DONE]\n\n');
}

function callOf({ tool, arguments: given }: Extract<Answer, { readonly tool: string }>): object {
  const id = `call_${randomUUID().replaceAll('-', '').slice(0, 24)}`;
  return { id, type: 'function', function: { name: tool, arguments: JSON.stringify(given) } };
}

const messageOf = (answer: Answer): object =>
  'tool' in answer
    ? { role: 'assistant', content: null, tool_calls: [callOf(answer)] }
    : { role: 'assistant', content: answer.text };

const finishOf = (answer: Answer): string => ('tool' in answer ? 'tool_calls' : 'stop');

/** A token is taken for four bytes. */
function usageOf(body: Buffer, answer: Answer): object {
  const prompt = Math.ceil(body.length / 4);
  const completion = Math.ceil(JSON.stringify(answer).length / 4);
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}

function refuse(reply: ServerResponse, status: number, message: string): void {
  reply.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
  reply.end(JSON.stringify({ error: { message, type: 'invalid_request_error', param: null, code: null } }));
}
