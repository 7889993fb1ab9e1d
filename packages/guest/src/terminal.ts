import type { Duplex } from 'node:stream';
import { encodeFrame, FrameReader, terminalInput, terminalOutput, type Frame } from './frames.ts';
import { terminalSilenceMs, type ProcessEnd, type TerminalSize, type TerminalWanted } from './protocol.ts';
import { endFrom, replyFrom, unexpected } from './shape.ts';
import type { CallOptions, Transport } from './transport.ts';

/** Interval of pings. A connection to a frozen or lost guest is silent, so it is given up when three pings had no answer. */
const pingEveryMs = terminalSilenceMs / 4;
const mostUnanswered = 3;

export interface TerminalHandlers {
  /** Receives shown bytes. False asks for no more until `resume`. */
  data(chunk: Buffer): boolean;
  /** Called when bytes that `write` had no room for are gone. */
  drained(): void;
  /** Called once, last: with the end of the shell, or null when the connection ended. */
  closed(end: ProcessEnd | null): void;
}

export async function openTerminal(
  transport: Transport,
  { columns, rows, term, user }: TerminalWanted,
  handlers: TerminalHandlers,
  options: CallOptions,
): Promise<GuestTerminal> {
  const query = new URLSearchParams({ columns: String(columns), rows: String(rows), term });
  const path = user === 'root' ? '/v1/terminal/root' : '/v1/terminal';
  const socket = await transport.upgrade(`${path}?${query.toString()}`, 'lodge-terminal', options);
  return new GuestTerminal(socket, handlers);
}

export class GuestTerminal {
  private readonly socket: Duplex;
  private readonly handlers: TerminalHandlers;
  private readonly reader = new FrameReader();
  private readonly pings: NodeJS.Timeout;
  private unanswered = 0;
  private isOver = false;

  constructor(socket: Duplex, handlers: TerminalHandlers) {
    this.socket = socket;
    this.handlers = handlers;
    this.pings = setInterval(() => this.ping(), pingEveryMs);
    socket.on('data', (chunk: Buffer) => this.take(chunk));
    socket.on('drain', () => handlers.drained());
    socket.on('error', () => undefined); // The close event reports it too.
    for (const event of ['end', 'close'] as const) socket.on(event, () => this.over(null));
  }

  /** Sends typed bytes. False asks for no more until `drained`. */
  write(bytes: Uint8Array): boolean {
    return this.send(terminalInput.data, bytes);
  }

  resize(size: TerminalSize): void {
    this.send(terminalInput.resize, JSON.stringify(size));
  }

  resume(): void {
    this.socket.resume();
  }

  /** Ends the terminal and its processes. */
  close(): void {
    this.over(null);
  }

  private send(kind: number, payload?: Uint8Array | string): boolean {
    return this.isOver || this.socket.write(encodeFrame(kind, payload));
  }

  private ping(): void {
    this.unanswered += 1;
    if (this.unanswered > mostUnanswered) this.over(null);
    else this.send(terminalInput.ping);
  }

  private take(chunk: Buffer): void {
    // Any bytes show that it is there. While nobody takes its output it is not read, and given up for that.
    this.unanswered = 0;
    try {
      for (const frame of joined(this.reader.push(chunk))) this.obey(frame);
    } catch {
      this.over(null);
    }
  }

  private obey({ kind, payload }: Frame): void {
    if (this.isOver) return;
    switch (kind) {
      case terminalOutput.data:
        if (!this.handlers.data(payload)) this.socket.pause();
        return;
      case terminalOutput.exit:
        this.over(endFrom(replyFrom(payload, 'GET /v1/terminal')));
        return;
      default:
        throw unexpected();
    }
  }

  private over(end: ProcessEnd | null): void {
    if (this.isOver) return;
    this.isOver = true;
    clearInterval(this.pings);
    this.socket.destroy();
    this.handlers.closed(end);
  }
}

/** Joins shown bytes up to the next frame of another kind, because a guest may send a frame for each byte. */
function joined(frames: readonly Frame[]): Frame[] {
  const found: Frame[] = [];
  let shown: Buffer[] = [];
  const end = (): void => {
    if (shown.length > 0)
      found.push({ kind: terminalOutput.data, payload: shown.length === 1 ? shown[0]! : Buffer.concat(shown) });
    shown = [];
  };
  for (const frame of frames) {
    if (frame.kind === terminalOutput.data) shown.push(frame.payload);
    // A pong only shows that the guest is there, which was noted already.
    else if (frame.kind !== terminalOutput.pong) {
      end();
      found.push(frame);
    }
  }
  end();
  return found;
}
