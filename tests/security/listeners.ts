/**
 * A process that answers over TCP and UDP at the places given. Its answer says who it is, where it was asked and whom it sees.
 * Argument: JSON `{ name, tcp, udp }`. Prints `ready`, then a line of JSON for each datagram. Ends with its standard input.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';

export interface Place {
  readonly address: string;
  readonly port: number;
}

export interface Listening {
  readonly name: string;
  readonly tcp: readonly Place[];
  readonly udp: readonly Place[];
}

const plain = (address: string | undefined): string => (address ?? '').replace(/^::ffff:/, '');

export async function listen({ name, tcp, udp }: Listening, heard: (text: string) => void): Promise<void> {
  for (const { address, port } of tcp) {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.end(`${name} at ${plain(socket.localAddress)}:${port} to ${plain(socket.remoteAddress)}`);
    });
    await once(server.listen(port, address), 'listening');
    server.unref();
  }
  for (const { address, port } of udp) {
    const socket = createSocket({ type: address.includes(':') ? 'udp6' : 'udp4', reuseAddr: true });
    socket.on('message', (message, peer) => {
      heard(message.toString());
      socket.send(`${name} at ${address}:${port} to ${peer.address}`, peer.port, peer.address, () => {});
    });
    socket.bind(port, address);
    await once(socket, 'listening');
    socket.unref();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await listen(JSON.parse(process.argv[2]!) as Listening, (text) => console.log(JSON.stringify({ heard: text })));
  console.log('ready');
  process.stdin.resume();
}
