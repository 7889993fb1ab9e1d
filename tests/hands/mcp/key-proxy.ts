/** Passes requests on with an API key, for programs that cannot send one. Their Host and Origin stay as they are. */
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';

export interface KeyProxy {
  readonly url: string;
  close(): Promise<void>;
}

export async function openKeyProxy(target: string, key: string): Promise<KeyProxy> {
  const { hostname, port } = new URL(target);
  const server = createServer((asked, reply) => {
    const headers = { ...asked.headers, 'x-api-key': key };
    const options = { hostname, port, path: asked.url, method: asked.method, headers, agent: false } as const;
    const sent = request(options, (answer) => {
      reply.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(reply);
    });
    sent.on('error', () => reply.destroy());
    reply.on('close', () => sent.destroy());
    asked.pipe(sent);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
