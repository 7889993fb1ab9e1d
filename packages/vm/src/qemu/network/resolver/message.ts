import dnsPacket from 'dns-packet';

/** Largest question of a guest, over UDP or TCP. */
export const mostQuestionBytes = 512;
const headerBytes = 12;
/** The number that fits in 512 bytes beside the longest question. */
export const mostAnswers = 14;

export interface Question {
  readonly id: number;
  /** The name as it was asked. It may hold any character. */
  readonly name: string;
  /** `A`, `AAAA` ..., or `UNKNOWN_…`. */
  readonly type: string;
  readonly recursionDesired: boolean;
  /** The question's own bytes. */
  readonly bytes: Buffer;
}

/** Codes of RFC 1035, 4.1.1. */
export const rcodes = { ok: 0, malformed: 1, failed: 2, noSuchName: 3 } as const;
export type Rcode = (typeof rcodes)[keyof typeof rcodes];

export interface Address {
  readonly address: string;
  /** Seconds. */
  readonly ttl: number;
}

/**
 * Reads a question; null for anything else. Reads only header and question: one question of class IN, an ordinary query,
 * with at most EDNS behind it, which is ignored.
 */
export function readQuestion(packet: Buffer): Question | null {
  if (packet.length < headerBytes || packet.length > mostQuestionBytes) return null;
  const [flags, questions, answers, authorities, additionals] = [2, 4, 6, 8, 10].map((offset) =>
    packet.readUInt16BE(offset),
  );
  // The flags QR and opcode: it is neither a reply nor an update.
  if ((flags! & 0xf800) !== 0 || questions !== 1 || answers !== 0 || authorities !== 0 || additionals! > 1) return null;
  const end = endOfQuestion(packet);
  if (end === null) return null;
  const alone = Buffer.from(packet.subarray(0, end));
  alone.writeUInt16BE(0, 10);
  try {
    const [question] = dnsPacket.decode(alone).questions ?? [];
    if (question === undefined || question.class !== 'IN') return null;
    return {
      id: packet.readUInt16BE(0),
      name: question.name,
      type: question.type,
      recursionDesired: (flags! & 0x0100) !== 0,
      bytes: alone.subarray(headerBytes),
    };
  } catch {
    return null;
  }
}

/**
 * The offset where the question ends. Null when it does not end, or its name has a pointer: a question has nothing to point
 * to.
 */
function endOfQuestion(packet: Buffer): number | null {
  let offset = headerBytes;
  for (;;) {
    const length = packet[offset];
    if (length === undefined || length > 63) return null;
    offset += length + 1;
    if (length === 0) break;
  }
  const end = offset + 4;
  return end <= packet.length && end - headerBytes <= 255 + 4 ? end : null;
}

/** The reply: the question again, and the addresses, each with a pointer to its name. */
export function writeReply(question: Question, rcode: Rcode, addresses: readonly Address[] = []): Buffer {
  const header = Buffer.alloc(headerBytes);
  header.writeUInt16BE(question.id, 0);
  // The flags say that it is a reply and recursion is available.
  header.writeUInt16BE(0x8080 | (question.recursionDesired ? 0x0100 : 0) | rcode, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(addresses.length, 6);
  return Buffer.concat([header, question.bytes, ...addresses.map(answer)]);
}

function answer({ address, ttl }: Address): Buffer {
  const record = Buffer.alloc(16);
  record.writeUInt16BE(0xc000 | headerBytes, 0);
  record.writeUInt16BE(1, 2);
  record.writeUInt16BE(1, 4);
  record.writeUInt32BE(ttl, 6);
  record.writeUInt16BE(4, 10);
  record.set(address.split('.').map(Number), 12);
  return record;
}
