/** One WebSocket of a companion device: frames, the handshake, then stanzas in both directions, in order. */
import { decodeBinaryNode, encodeBinaryNode, proto } from 'baileys';
import type { BinaryNode } from 'baileys';
import type { RawData, WebSocket } from 'ws';
import { prologue, Responder } from './noise.ts';
import type { ResponderKeys, Transport } from './noise.ts';

export interface LinkEvents {
  /** The handshake is over; what the client says of itself: a device to log in or to register. */
  opened(link: Link, payload: proto.IClientPayload): void;
  stanza(link: Link, node: BinaryNode): Promise<void>;
  closed(link: Link): void;
}

const maxFrameBytes = 4 * 1024 * 1024;

export class Link {
  readonly socket: WebSocket;
  /** Half-open: the socket stays, nothing is read and nothing is sent. */
  muted = false;
  /** Bytes that clients have sent. */
  bytesIn = 0;
  private readonly events: LinkEvents;
  private readonly responder: Responder;
  private transport: Transport | null = null;
  private pending: Buffer = Buffer.alloc(0);
  private hasIntro = false;
  private saidHello = false;
  private reading: Promise<void> = Promise.resolve();

  constructor(socket: WebSocket, keys: ResponderKeys, events: LinkEvents) {
    this.socket = socket;
    this.events = events;
    this.responder = new Responder(keys);
    socket.on('error', () => socket.terminate());
    socket.on('close', () => events.closed(this));
    socket.on('message', (data: RawData) => this.take(data as Buffer));
  }

  send(node: BinaryNode): void {
    if (this.muted || !this.transport || this.socket.readyState !== this.socket.OPEN) return;
    this.sendFrame(this.transport.seal(encodeBinaryNode(node)));
  }

  /** Bytes that no key of this link opens. */
  sendGarbage(): void {
    this.sendFrame(Buffer.alloc(64, 0x5a));
  }

  /** Says a last stanza and closes, as the real server does. */
  end(node: BinaryNode): void {
    this.send(node);
    setTimeout(() => this.socket.close(), 20).unref();
  }

  private take(data: Buffer): void {
    this.bytesIn += data.length;
    if (this.muted) return;
    this.pending = this.pending.length === 0 ? data : Buffer.concat([this.pending, data]);
    if (!this.hasIntro && !this.takeIntro()) return;
    while (this.pending.length >= 3) {
      const bytes = this.pending.readUIntBE(0, 3);
      if (bytes > maxFrameBytes) return this.socket.terminate();
      if (this.pending.length < 3 + bytes) return;
      const frame = this.pending.subarray(3, 3 + bytes);
      this.pending = this.pending.subarray(3 + bytes);
      this.reading = this.reading.then(() => this.takeFrame(frame)).catch(() => this.socket.terminate());
    }
  }

  /** `WA…`, with `ED` and routing information before it where the client has some. */
  private takeIntro(): boolean {
    let at = 0;
    if (this.pending.length >= 7 && this.pending.toString('latin1', 0, 2) === 'ED')
      at = 7 + this.pending.readUIntBE(4, 3);
    if (this.pending.length < at + prologue.length) return false;
    if (!this.pending.subarray(at, at + prologue.length).equals(prologue)) {
      this.socket.terminate();
      return false;
    }
    this.pending = this.pending.subarray(at + prologue.length);
    this.hasIntro = true;
    return true;
  }

  private async takeFrame(frame: Buffer): Promise<void> {
    if (this.transport) return this.events.stanza(this, await decodeBinaryNode(this.transport.open(frame)));
    const { clientHello, clientFinish } = proto.HandshakeMessage.decode(frame);
    if (!this.saidHello) {
      const serverHello = this.responder.hello(clientHello!.ephemeral!);
      this.saidHello = true;
      return this.sendFrame(Buffer.from(proto.HandshakeMessage.encode({ serverHello }).finish()));
    }
    const { payload, transport } = this.responder.finish(clientFinish!.static!, clientFinish!.payload!);
    this.transport = transport;
    this.events.opened(this, proto.ClientPayload.decode(payload));
  }

  private sendFrame(bytes: Buffer): void {
    const frame = Buffer.alloc(3 + bytes.length);
    frame.writeUIntBE(bytes.length, 0, 3);
    bytes.copy(frame, 3);
    this.socket.send(frame);
  }
}
