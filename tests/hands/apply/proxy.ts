/** A server between the command and the API: it counts requests, and calls a test at the moments of changes. */
import { once } from 'node:events';
import { createServer, request as send } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Seen {
  readonly method: string;
  readonly path: string;
}

export interface Proxy {
  readonly url: string;
  readonly seen: Seen[];
  /** Requests that change something. Fingerprints are asked for by POST, since a query would show the secrets. */
  changes(): Seen[];
  /** Called before a change is passed on, and before its reply is, with its number from 1. True: it is not passed on. */
  onChange: (number: number, moment: 'before' | 'after') => boolean;
  close(): Promise<void>;
}

const isChange = ({ method, path }: Seen): boolean => method !== 'GET' && path !== '/v1/fingerprints';

export async function startProxy(target: string): Promise<Proxy> {
  const { hostname, port } = new URL(target);
  const seen: Seen[] = [];
  let changes = 0;
  const pass = (given: IncomingMessage, reply: ServerResponse): void => {
    const { method = '', url: path = '', headers } = given;
    seen.push({ method, path });
    const number = isChange({ method, path }) ? (changes += 1) : 0;
    // A client that was killed before it sent anything has changed nothing.
    if (number > 0 && proxy.onChange(number, 'before')) return void reply.destroy();
    const passed = send({ hostname, port, method, path, headers, agent: false }, (answer) => {
      if (number > 0) proxy.onChange(number, 'after');
      reply.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(reply);
    });
    passed.on('error', () => reply.destroy());
    given.on('error', () => passed.destroy());
    reply.on('error', () => passed.destroy());
    given.pipe(passed);
  };
  const server = createServer(pass).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy: Proxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    changes: () => seen.filter(isChange),
    onChange: () => false,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}
