/** A runtime's gateway that answers as the message asks: `Say N`, `Wait`, or `plum`. It says what it saw end. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

const chunkOf = (content: string, finish_reason: string | null = null): string => {
  const choices = [{ index: 0, delta: { role: 'assistant', content }, finish_reason }];
  return `data: ${JSON.stringify({ id: 'c', created: 1, model: 'openclaw', object: 'chat.completion.chunk', choices })}\n\n`;
};

/** A report of a tool, as OpenClaw's image writes it. */
const step = (phase: string): string => {
  const report = { toolCallId: 'call_1', name: 'exec', phase, status: 'completed', meta: 'run tests' };
  return `event: openclaw.tool\ndata: ${JSON.stringify(report)}\n\n`;
};

export interface AskedGateway {
  readonly url: string;
  /** Bodies of what it was asked. */
  readonly asked: string[];
  /** Resolves when a turn that waits was ended from outside. */
  ended(): Promise<void>;
  /** Resolves when a turn that waits has begun. */
  waiting(): Promise<void>;
  close(): Promise<void>;
}

export async function openGateway(): Promise<AskedGateway> {
  const asked: string[] = [];
  let began = Promise.withResolvers<void>();
  let end = Promise.withResolvers<void>();
  const server = createServer((request, reply) => {
    void text(request).then((body) => {
      asked.push(body);
      reply.setHeader('content-type', 'text/event-stream');
      const [, count] = /Say (\d+)/.exec(body) ?? [];
      if (/Wait/.test(body)) {
        reply.write(chunkOf(''));
        reply.write(step('start'));
        reply.write(step('end'));
        reply.write(chunkOf('I begin. '));
        reply.once('close', () => end.resolve());
        began.resolve();
        return;
      }
      const said = count === undefined ? 'plum' : 'ä'.repeat(Number(count));
      reply.end(`${chunkOf(said, 'stop')}data: [DONE]\n\n`);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked,
    async ended() {
      await end.promise;
      end = Promise.withResolvers();
    },
    async waiting() {
      await began.promise;
      began = Promise.withResolvers();
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
