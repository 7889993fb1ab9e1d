/** A name server on loopback that says what a test tells it to, and may be silent. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import { decode, encode } from 'dns-packet';
import type { Answer, Packet } from 'dns-packet';

/** Addresses of a name, by how often it was asked for before; null: silence. */
export type Records = Readonly<Record<string, (asked: number) => readonly string[] | null>>;

export interface StubDns {
  /** As `Resolver.setServers` takes it. */
  readonly server: string;
  readonly asked: (name: string) => number;
  close(): Promise<void>;
}

export async function startStubDns(records: Records): Promise<StubDns> {
  const asked = new Map<string, number>();
  const socket = createSocket('udp4');
  socket.on('message', (bytes, peer) => {
    const query = decode(bytes);
    const [question] = query.questions ?? [];
    if (!question) return;
    const { name, type } = question;
    const before = asked.get(`${name} ${type}`) ?? 0;
    asked.set(`${name} ${type}`, before + 1);
    const addresses = Object.hasOwn(records, name) ? records[name]!(before) : [];
    if (addresses === null) return;
    const answers = addresses
      .filter((address) => (isIPv6(address) ? 'AAAA' : 'A') === type)
      .map((data): Answer => ({ name, type: type as 'A' | 'AAAA', ttl: 0, data }));
    const flags = addresses.length === 0 ? 3 : 0;
    const reply: Packet = { type: 'response', id: query.id ?? 0, flags, questions: [question], answers };
    socket.send(encode(reply), peer.port, peer.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    server: `127.0.0.1:${socket.address().port}`,
    asked: (name) => (asked.get(`${name} A`) ?? 0) + (asked.get(`${name} AAAA`) ?? 0),
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}
