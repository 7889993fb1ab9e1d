/** The servers in a guest of the toy runtime. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

export interface ToyGateway {
  readonly port: number;
  close(): void;
}

/** Answers with the session, the model and the text; `busy` is answered with an error of its own kind. */
export async function startToyGateway(): Promise<ToyGateway> {
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

interface Asked {
  readonly model: string;
  readonly messages: readonly { readonly content: string }[];
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { model, messages } = (await json(request)) as Asked;
  const text = messages.at(-1)!.content;
  if (text === 'busy') {
    response.writeHead(500, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { message: 'BUSY 7' } }));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const words = [`${String(request.headers['x-toy-session'])} `, `${model} `, text];
  for (const content of words) response.write(`data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`);
  response.end('data: [DONE]\n\n');
}
