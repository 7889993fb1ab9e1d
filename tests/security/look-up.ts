/**
 * Asks a name server in a guest's stead, as a program of the guest would. Argument: JSON, a list of `Lookup`; prints a list of `Found`, null for one that nobody
 * answered in time. `raw` (hex) is sent in the question's place.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import dnsPacket from 'dns-packet';
import { inNamespace } from './shell.ts';

export interface Lookup {
  readonly name: string;
  readonly type?: 'A' | 'AAAA' | 'TXT';
  readonly server?: string;
  readonly over?: 'udp' | 'tcp';
  readonly raw?: string;
}

export interface Found {
  readonly rcode: string;
  readonly addresses: readonly string[];
  /** Seconds; null without an address. */
  readonly ttl: number | null;
}

const patienceMs = 5000;

export async function lookUp(namespace: string, ...lookups: Lookup[]): Promise<(Found | null)[]> {
  const argv = [process.execPath, fileURLToPath(import.meta.url), JSON.stringify(lookups)];
  return JSON.parse(await inNamespace(namespace, argv)) as (Found | null)[];
}

async function overUdp(query: Buffer, server: string): Promise<Buffer> {
  const socket = createSocket('udp4');
  socket.send(query, 53, server);
  const [message] = (await once(socket, 'message')) as [Buffer];
  socket.close();
  return message;
}

async function overTcp(query: Buffer, server: string): Promise<Buffer> {
  const socket = connect({ host: server, port: 53 });
  const length = Buffer.alloc(2);
  length.writeUInt16BE(query.length);
  socket.write(Buffer.concat([length, query]));
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).subarray(2);
}

async function find({ name, type = 'A', server = '10.0.2.2', over = 'udp', raw }: Lookup): Promise<Found | null> {
  const query =
    raw === undefined
      ? dnsPacket.encode({ type: 'query', id: 1, flags: dnsPacket.RECURSION_DESIRED, questions: [{ name, type }] })
      : Buffer.from(raw, 'hex');
  const answer = (over === 'udp' ? overUdp : overTcp)(query, server);
  const message = await Promise.race([answer.catch(() => null), sleep(patienceMs, null)]);
  if (message === null || message.length === 0) return null;
  const decoded = dnsPacket.decode(message) as dnsPacket.DecodedPacket & { readonly rcode: string };
  const records = (decoded.answers ?? []).flatMap((record) => (record.type === 'A' ? record : []));
  return { rcode: decoded.rcode, addresses: records.map(({ data }) => data), ttl: records[0]?.ttl ?? null };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const lookups = JSON.parse(process.argv[2]!) as Lookup[];
  console.log(JSON.stringify(await Promise.all(lookups.map(find))));
  process.exit();
}
