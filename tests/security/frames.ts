/** Ethernet frames as bytes, for a guest that does what no decent network stack would. */

const address4 = (text: string): Buffer => Buffer.from(text.split('.').map(Number));
const mac = (text: string): Buffer => Buffer.from(text.replaceAll(':', ''), 'hex');

function address6(text: string): Buffer {
  const [head = '', tail = ''] = text.split('::');
  const groups = (part: string): string[] =>
    part === '' ? [] : part.split(':').map((group) => group.padStart(4, '0'));
  const missing = 8 - groups(head).length - groups(tail).length;
  return Buffer.from([...groups(head), ...Array<string>(missing).fill('0000'), ...groups(tail)].join(''), 'hex');
}

function checksum(bytes: Buffer): number {
  let sum = 0;
  for (let i = 0; i < bytes.length; i += 2) sum += (bytes[i]! << 8) | (bytes[i + 1] ?? 0);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}

export function ethernet(to: string, from: string, type: number, payload: Buffer): Buffer {
  return Buffer.concat([mac(to), mac(from), Buffer.from([type >> 8, type & 255]), payload]);
}

/** The frame with an 802.1Q tag of this VLAN; 0 is only a priority, and a receiver takes such a frame as its own. */
export function tagged(frame: Buffer, vlan: number): Buffer {
  return Buffer.concat([frame.subarray(0, 12), Buffer.from([0x81, 0x00, vlan >> 8, vlan & 255]), frame.subarray(12)]);
}

export interface Packet4 {
  readonly from: string;
  readonly to: string;
  readonly protocol: number;
  readonly payload: Buffer;
  readonly options?: Buffer;
  /** Where in the whole the payload stands (bytes, a multiple of 8), and whether more follows. */
  readonly fragment?: { readonly offset: number; readonly more: boolean };
}

export function ipv4({ from, to, protocol, payload, options = Buffer.alloc(0), fragment }: Packet4): Buffer {
  const header = Buffer.alloc(20);
  const words = 5 + options.length / 4;
  header[0] = 0x40 | words;
  header.writeUInt16BE(words * 4 + payload.length, 2);
  header.writeUInt16BE(0x4c4f, 4);
  header.writeUInt16BE(fragment === undefined ? 0 : (fragment.more ? 0x2000 : 0) | (fragment.offset / 8), 6);
  header[8] = 64;
  header[9] = protocol;
  address4(from).copy(header, 12);
  address4(to).copy(header, 16);
  header.writeUInt16BE(checksum(Buffer.concat([header, options])), 10);
  return Buffer.concat([header, options, payload]);
}

export function ipv6(from: string, to: string, next: number, payload: Buffer, hopLimit = 64): Buffer {
  const header = Buffer.alloc(8);
  header[0] = 0x60;
  header.writeUInt16BE(payload.length, 4);
  header[6] = next;
  header[7] = hopLimit;
  return Buffer.concat([header, address6(from), address6(to), payload]);
}

/** A UDP datagram without a checksum, which IPv4 allows. */
export function udp(fromPort: number, toPort: number, text: string): Buffer {
  const header = Buffer.alloc(8);
  header.writeUInt16BE(fromPort, 0);
  header.writeUInt16BE(toPort, 2);
  header.writeUInt16BE(8 + Buffer.byteLength(text), 4);
  return Buffer.concat([header, Buffer.from(text)]);
}

/** A TCP segment of an existing connection, for these addresses. */
export function tcpMidst(from: string, fromPort: number, to: string, toPort: number, text: string): Buffer {
  const segment = Buffer.concat([Buffer.alloc(20), Buffer.from(text)]);
  segment.writeUInt16BE(fromPort, 0);
  segment.writeUInt16BE(toPort, 2);
  segment.writeUInt32BE(1, 4);
  segment.writeUInt32BE(1, 8);
  // Five words of header; PSH and ACK.
  segment.writeUInt16BE(0x5018, 12);
  segment.writeUInt16BE(1024, 14);
  const pseudo = Buffer.concat([address4(from), address4(to), Buffer.from([0, 6, 0, segment.length])]);
  segment.writeUInt16BE(checksum(Buffer.concat([pseudo, segment])), 16);
  return segment;
}

/** Puts the checksum that goes over IPv6 addresses too into a UDP datagram (at 6) or an ICMPv6 message (at 2). */
export function sealed6(from: string, to: string, next: 17 | 58, payload: Buffer): Buffer {
  const pseudo = Buffer.alloc(8);
  pseudo.writeUInt32BE(payload.length, 0);
  pseudo[7] = next;
  const bytes = Buffer.from(payload);
  bytes.writeUInt16BE(checksum(Buffer.concat([address6(from), address6(to), pseudo, bytes])), next === 17 ? 6 : 2);
  return bytes;
}

export function icmpEcho(id: number): Buffer {
  const message = Buffer.alloc(16);
  message[0] = 8;
  message.writeUInt16BE(id, 4);
  message.writeUInt16BE(checksum(message), 2);
  return message;
}

/** The id of the echo reply that a frame carries, or null. */
export function echoReplyId(frame: Buffer): number | null {
  const isReply = frame.readUInt16BE(12) === 0x0800 && frame[23] === 1 && frame[34] === 0;
  return isReply ? frame.readUInt16BE(38) : null;
}

/** An ARP request: the holder of `target` shall remember that `sender` is at `senderMac`. */
export function arpRequest(senderMac: string, sender: string, target: string): Buffer {
  const head = Buffer.from([0, 1, 8, 0, 6, 4, 0, 1]);
  return Buffer.concat([head, mac(senderMac), address4(sender), Buffer.alloc(6), address4(target)]);
}

/** A router advertisement (RFC 4861): the sender is everyone's default router for half an hour. */
export function routerAdvertisement(): Buffer {
  const message = Buffer.alloc(16);
  message[0] = 134;
  message[4] = 64;
  message.writeUInt16BE(1800, 6);
  return message;
}
