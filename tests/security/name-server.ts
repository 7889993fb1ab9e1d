/**
 * A process that stands for the name servers of the internet: it answers for the names of its zone over UDP and knows no others.
 * Argument: JSON `{ address, zone }`. Prints `ready`, then a line of JSON for each question. A line of JSON on standard input adds to the zone.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import dnsPacket from 'dns-packet';

export interface NameRecord {
  readonly type: 'A' | 'AAAA' | 'CNAME';
  readonly data: string;
  /** Seconds. */
  readonly ttl: number;
}

export type Zone = Readonly<Record<string, readonly NameRecord[]>>;

interface Asked {
  readonly name: string;
  readonly type: string;
}

const { address, zone: first } = JSON.parse(process.argv[2]!) as { readonly address: string; readonly zone: Zone };
let zone = first;

function recordsOf({ name, type }: Asked): (NameRecord & { readonly name: string })[] {
  const own = zone[name.toLowerCase()] ?? [];
  return own.flatMap((record) => {
    if (record.type === type) return { name, ...record };
    return record.type === 'CNAME' ? [{ name, ...record }, ...recordsOf({ name: record.data, type })] : [];
  });
}

const socket = createSocket('udp4');
socket.on('message', (message, peer) => {
  const { id, questions = [] } = dnsPacket.decode(message);
  const [question] = questions;
  if (question === undefined) return;
  console.log(JSON.stringify({ name: question.name.toLowerCase(), type: question.type }));
  const isKnown = zone[question.name.toLowerCase()] !== undefined;
  const reply = dnsPacket.encode({
    type: 'response',
    id: id!,
    flags: dnsPacket.AUTHORITATIVE_ANSWER | (isKnown ? 0 : 3),
    questions,
    answers: recordsOf(question),
  });
  socket.send(reply, peer.port, peer.address);
});
socket.bind(53, address);
await once(socket, 'listening');
console.log('ready');
for await (const line of createInterface(process.stdin)) zone = { ...zone, ...(JSON.parse(line) as Zone) };
