/**
 * WebSockets on the API's own host. The request goes through the router like every other, with its checks, its log line and
 * its errors as plain HTTP replies. A route that wants the connection takes it by `upgradeOf`, hijacks its reply and says
 * 101 itself (`handleUpgrade` of ws does). If no route takes it, the answer is as if no upgrade had been requested.
 */
import { ServerResponse } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

interface Upgrade {
  readonly socket: Duplex;
  /** Data that the client has sent after its request already. */
  readonly head: Buffer;
}

const upgrades = new WeakMap<IncomingMessage, Upgrade>();

/** The connection of a request for a WebSocket, for the route that answers it; undefined for any other request. */
export const upgradeOf = (request: IncomingMessage): Upgrade | undefined => upgrades.get(request);

/** Accepts only WebSockets: a client that offers another protocol (h2c, say) is answered in HTTP/1.1. */
export const isUpgrade = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket';

/** The server's listener for upgrades. */
export function throughRouter(router: (request: IncomingMessage, response: ServerResponse) => void) {
  return (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    upgrades.set(request, { socket, head });
    takeKey(request);
    router(request, replyOn(request, socket));
  };
}

/**
 * A browser sets no headers but names subprotocols: one of the form `bearer.<API key>` is the key if no header has one. In
 * the path it would be logged on the way.
 */
function takeKey({ headers }: IncomingMessage): void {
  if (headers['x-api-key'] !== undefined || headers.authorization !== undefined) return;
  const key = /(?:^|,)\s*bearer\.([\w-]+)\s*(?:,|$)/.exec(headers['sec-websocket-protocol'] ?? '')?.[1];
  if (key !== undefined) headers['x-api-key'] = key;
}

/** An HTTP reply on a connection that the server has given away; each ends with the other. */
export function replyOn(request: IncomingMessage, socket: Duplex): ServerResponse {
  // Only its close counts.
  socket.on('error', () => socket.destroy());
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket as Socket);
  response.once('finish', () => (socket as Socket).destroySoon());
  return response;
}
