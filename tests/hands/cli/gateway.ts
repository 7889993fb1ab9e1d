/** A runtime's gateway whose answers a test decides, in the pieces that it chooses. */
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { dialTo } from '@lodge/guest';
import type { AgentRuntime, ReportedStep } from '@lodge/ports';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Asked {
  readonly text: string;
  /** The member and the conversation. */
  readonly talk: string;
}

export interface ScriptedGateway {
  /** The part of a runtime that leads to it. */
  readonly runtime: Pick<AgentRuntime, 'chatEndpoint' | 'toolStep'>;
  /** Messages that came, in order. */
  readonly asked: Asked[];
  /** Turns that the other side ended before they were over. */
  readonly cut: Asked[];
  /** Gives the pieces of an answer: a number is a pause in ms, null cuts the connection, and a report is of a tool. */
  answer: (asked: Asked) => readonly (string | number | null | ReportedStep)[];
  close(): Promise<void>;
}

export async function startScriptedGateway(): Promise<ScriptedGateway> {
  const server = createServer((request, reply) => void turn(gateway, request, reply)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const gateway: ScriptedGateway = {
    runtime: {
      chatEndpoint: (_guest, _facts, _settings, { member, conversation }) => ({
        dial: dialTo('127.0.0.1'),
        baseUrl: `http://127.0.0.1:${port}/v1`,
        headers: { 'x-talk': `${member} ${conversation}` },
        model: 'openclaw',
        takesPictures: false,
      }),
      toolStep: (_event, data) => data as unknown as ReportedStep,
    },
    asked: [],
    cut: [],
    answer: ({ text }) => [`You said: ${text}`],
    close: () => closed(server),
  };
  return gateway;
}

async function turn(gateway: ScriptedGateway, request: IncomingMessage, reply: ServerResponse): Promise<void> {
  const body = (await json(request)) as { messages: { content: unknown }[] };
  const asked: Asked = { text: String(body.messages.at(-1)?.content), talk: String(request.headers['x-talk']) };
  gateway.asked.push(asked);
  let isOver = false;
  reply.on('close', () => {
    if (!isOver) gateway.cut.push(asked);
  });
  reply.setHeader('content-type', 'text/event-stream');
  const chunk = (delta: object, finish: string | null): void => {
    const choices = [{ index: 0, delta, finish_reason: finish }];
    reply.write(
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'openclaw', choices })}\n\n`,
    );
  };
  chunk({ role: 'assistant', content: '' }, null);
  for (const piece of gateway.answer(asked)) {
    if (piece === null) reply.destroy();
    else if (typeof piece === 'number') await sleep(piece);
    else if (typeof piece === 'object') reply.write(`event: tool\ndata: ${JSON.stringify(piece)}\n\n`);
    else chunk({ content: piece }, null);
    if (reply.closed) return;
  }
  chunk({}, 'stop');
  isOver = true;
  reply.end('data: [DONE]\n\n');
}

async function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
