/**
 * Connects a client's WebSocket with a terminal in a guest: bytes both ways, each way as slow as its reader. It ends when
 * one of them ends, the client types nothing for too long or no longer answers, its key or session ends, or the server
 * closes. Then both are closed, once.
 */
import { TerminalControl } from '@lodge/contract';
import type { GuestClient, GuestTerminal, ProcessEnd, TerminalWanted } from '@lodge/guest';
import { Check } from 'typebox/value';
import type { RawData, WebSocket } from 'ws';

/** The subprotocol that a client offers beside its key if it can set no header. */
export const terminalProtocol = 'lodge.terminal';

const pingEveryMs = 20_000;
/** Bytes on their way to a client that reads slowly. */
const maxUnsentBytes = 1024 * 1024;
/** Time for the client's own close frame after the server's. */
const closeMs = 2_000;
/** Output from before the client's connection: a shell's prompt. */
const maxEarlyBytes = 256 * 1024;

interface BridgeOptions {
  readonly idleMs: number;
  readonly closing: AbortSignal;
  /** Aborts when the key or session that opened the terminal is no longer valid. */
  readonly ended: AbortSignal;
}

export class TerminalBridge {
  private readonly options: BridgeOptions;
  private terminal: GuestTerminal | null = null;
  private socket: WebSocket | null = null;
  private early: Buffer[] = [];
  private earlyBytes = 0;
  /** Set once the terminal has ended. */
  private ended: { readonly end: ProcessEnd | null } | null = null;
  private over: () => void = () => undefined;
  private pings: NodeJS.Timeout | undefined;
  private idle: NodeJS.Timeout | undefined;
  private isAnswered = true;

  constructor(options: BridgeOptions) {
    this.options = options;
  }

  /** Opens the terminal in the guest. */
  async connect(guest: GuestClient, terminal: TerminalWanted, signal: AbortSignal): Promise<void> {
    this.terminal = await guest.openTerminal(
      terminal,
      {
        data: (chunk) => this.show(chunk),
        drained: () => this.socket?.resume(),
        closed: (end) => this.finish(end),
      },
      { signal },
    );
  }

  /** Ends the terminal of a client that never came. */
  close(): void {
    this.terminal?.close();
  }

  /** Calls `over` once, when nothing is left of either side. */
  run(socket: WebSocket, over: () => void): void {
    this.socket = socket;
    this.over = over;
    this.pings = setInterval(() => this.ping(), pingEveryMs);
    const { closing, ended } = this.options;
    const shutDown = (): void => this.shut(1001, 'the service is restarting');
    const shutOut = (): void => this.shut(1008, 'the API key or session holds no more');
    closing.addEventListener('abort', shutDown);
    ended.addEventListener('abort', shutOut);
    socket.on('message', (data, isBinary) => this.take(data, isBinary));
    socket.on('pong', () => (this.isAnswered = true));
    socket.on('error', () => socket.terminate());
    socket.once('close', () => {
      closing.removeEventListener('abort', shutDown);
      this.closed();
    });
    this.rest();
    for (const chunk of this.early.splice(0)) this.show(chunk);
    this.terminal?.resume();
    if (this.ended !== null) this.finish(this.ended.end);
    if (closing.aborted) shutDown();
    if (ended.aborted) shutOut();
  }

  private show(chunk: Buffer): boolean {
    const { socket } = this;
    if (socket === null) {
      this.early.push(chunk);
      this.earlyBytes += chunk.length;
      return this.earlyBytes < maxEarlyBytes;
    }
    socket.send(chunk, { binary: true }, () => {
      if (socket.bufferedAmount < maxUnsentBytes) this.terminal?.resume();
    });
    return socket.bufferedAmount < maxUnsentBytes;
  }

  private take(data: RawData, isBinary: boolean): void {
    this.rest();
    const bytes = data as Buffer;
    if (isBinary) {
      if (this.terminal?.write(bytes) === false) this.socket?.pause();
      return;
    }
    const control = controlOf(bytes);
    if (control === null) this.shut(1007, 'not a control message');
    else this.terminal?.resize({ columns: control.cols, rows: control.rows });
  }

  /** Restarts the time in which nothing may be typed. */
  private rest(): void {
    clearTimeout(this.idle);
    this.idle = setTimeout(() => this.shut(1000, 'nothing was typed for too long'), this.options.idleMs);
  }

  private ping(): void {
    // Its answers are not read while the guest accepts nothing.
    if (!this.isAnswered && this.socket?.isPaused !== true) {
      this.socket?.terminate();
      return;
    }
    this.isAnswered = false;
    this.socket?.ping();
  }

  private finish(end: ProcessEnd | null): void {
    this.ended = { end };
    if (end === null) {
      this.shut(1011, 'the terminal was cut off');
      return;
    }
    this.socket?.send(JSON.stringify({ type: 'exit', exit_code: end.exitCode, signal: end.signal }));
    this.shut(1000, 'the shell has ended');
  }

  private shut(code: number, why: string): void {
    const { socket } = this;
    if (socket === null) return;
    socket.close(code, why);
    setTimeout(() => socket.terminate(), closeMs).unref();
  }

  private closed(): void {
    clearInterval(this.pings);
    clearTimeout(this.idle);
    this.terminal?.close();
    this.over();
  }
}

function controlOf(bytes: Buffer): { readonly cols: number; readonly rows: number } | null {
  try {
    const value: unknown = JSON.parse(bytes.toString());
    return Check(TerminalControl, value) ? value : null;
  } catch {
    return null;
  }
}
