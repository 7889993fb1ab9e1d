/** An MCP server over stdio, as one over HTTP: for the conformance suite, which speaks HTTP alone. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { json } from 'node:stream/consumers';

interface Message {
  readonly id?: unknown;
  readonly method?: string;
}

export interface Bridge {
  readonly url: string;
  close(): Promise<void>;
}

export async function openBridge(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Bridge> {
  const child = spawn(process.execPath, args, { env, stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting = new Map<number, (message: object) => void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line) as Message;
    if (message.method === undefined) waiting.get(message.id as number)?.(message);
  });
  let asked = 0;
  const server = createServer((request, reply) => {
    if (request.method !== 'POST') return void reply.writeHead(405).end();
    void json(request).then(async (body) => {
      const message = body as Message;
      // Clients begin to count anew, and there is one server for all of them.
      const id = (asked += 1);
      const answer = new Promise<object>((resolve) => waiting.set(id, resolve));
      const isAsking = message.id !== undefined;
      child.stdin.write(`${JSON.stringify(isAsking ? { ...message, id } : message)}\n`);
      if (!isAsking) return reply.writeHead(202).end();
      const text = JSON.stringify({ ...(await answer), id: message.id });
      return reply.writeHead(200, { 'content-type': 'application/json' }).end(text);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      const exited = once(child, 'exit');
      child.stdin.end();
      await exited;
    },
  };
}
