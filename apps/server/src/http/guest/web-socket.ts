/** A route's WebSocket: everything is checked as for any request, and the 101 comes last. */
import { Refusal } from '@lodge/domain';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import { upgradeOf } from '../listener/upgrade.ts';

/** Accepts the sockets of one route. `protocol` is what a client offers beside its key if it can set no header. */
export function socketsOf(protocol: string, maxMessageBytes: number): WebSocketServer {
  return new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: maxMessageBytes,
    // The other offered one is the key.
    handleProtocols: (offered) => (offered.has(protocol) ? protocol : false),
  });
}

/** Returns the connection of a request for a WebSocket. Refuses any other request. */
export function checkedHandshake(request: FastifyRequest): Duplex {
  const upgrade = upgradeOf(request.raw);
  const { 'sec-websocket-key': key = '', 'sec-websocket-version': version } = request.headers;
  if (upgrade === undefined || !/^[+/0-9A-Za-z]{22}==$/.test(key) || version !== '13') {
    throw new Refusal('invalid_request', 'Open a WebSocket here (RFC 6455): Upgrade must be websocket.');
  }
  return upgrade.socket;
}

/** Says 101. From here on the connection belongs to the WebSocket. */
export function accept(sockets: WebSocketServer, request: FastifyRequest, reply: FastifyReply): Promise<WebSocket> {
  const { socket, head } = upgradeOf(request.raw)!;
  return new Promise((resolve, reject) => {
    const failed = (): void => reject(new Refusal('invalid_request', 'This is not a valid request for a WebSocket.'));
    if (socket.destroyed || !socket.writable) return failed();
    socket.once('close', failed);
    reply.hijack();
    sockets.handleUpgrade(request.raw, socket, head, (accepted) => {
      socket.off('close', failed);
      resolve(accepted);
    });
  });
}

/** For the log the request of an accepted socket is over when this is called, because its reply was given away. */
export function endReply(reply: FastifyReply): void {
  reply.raw.statusCode = 101;
  reply.raw.emit('finish');
}
