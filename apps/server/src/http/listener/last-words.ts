import type { Socket } from 'node:net';

const lingerMs = 1_000;

/**
 * Sends a text on a connection that is not to go on, and ends the connection. Node's HTTP sockets are half-open: without the
 * timer, one whose client neither reads nor closes would stay, and count, for ever. The client has a second to read: destroyed
 * at once, bytes of its own that nobody reads would take the text from it.
 */
export function lastWords(socket: Socket, text: string): void {
  if (!socket.writable) return void socket.destroy();
  socket.end(text);
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
}
