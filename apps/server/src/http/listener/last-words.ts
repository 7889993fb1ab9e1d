import type { Socket } from 'node:net';

const lingerMs = 1_000;

/**
 * Sends a text on a connection that must end, and ends it. Node's HTTP sockets are half-open: without the timer, a
 * connection whose client neither reads nor closes would stay, and count, for ever. The client has a second to read: an
 * immediate destroy with unread bytes of the client's would lose the text.
 */
export function lastWords(socket: Socket, text: string): void {
  if (!socket.writable) return void socket.destroy();
  socket.end(text);
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
}
