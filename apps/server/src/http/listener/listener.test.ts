/** Who sends a body slowly holds a connection to the API for a bounded time; an agent's own server may wait for it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { after, before, test } from 'node:test';
import { answerClientError } from '../pipeline/errors.ts';
import { serverFactory } from './listener.ts';

const echo = (request: IncomingMessage, response: ServerResponse): void =>
  void text(request).then(
    (body) => response.end(body),
    () => undefined,
  );
const hosts = {
  takes(request, response): boolean {
    if (request.headers.host !== 'agent') return false;
    echo(request, response);
    return true;
  },
  takesUpgrade: () => false,
} satisfies Parameters<typeof serverFactory>[1];
const answered = { early: false };
const server = serverFactory(
  {},
  hosts,
  300,
)((request, response) => {
  if (answered.early) response.end('early');
  else echo(request, response);
}, {});
server.on('clientError', answerClientError);
before(() => once(server.listen(0, '127.0.0.1'), 'listening'));
after(() => server.close());

/** What comes back to a body that is sent in two halves. */
async function halves(host: string, afterMs: number): Promise<string> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const reply = text(socket);
  socket.write(`POST / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\nContent-Length: 4\r\n\r\npl`);
  await sleep(afterMs);
  if (socket.writable) socket.write('um');
  return reply;
}

test('a body that comes late is cut off at the API, whether or not it was answered, and waited for elsewhere', async () => {
  assert.match(await halves('api', 0), /^HTTP\/1\.1 200 [^]*plum$/);
  assert.match(await halves('api', 600), /^HTTP\/1\.1 408 [^]*too long to arrive/);
  assert.match(await halves('agent', 600), /^HTTP\/1\.1 200 [^]*plum$/);
  answered.early = true;
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write('POST / HTTP/1.1\r\nHost: api\r\nContent-Length: 4\r\n\r\npl');
  socket.resume();
  await once(socket, 'end');
});
