/**
 * Connects a client's WebSocket with a terminal in a guest: bytes both ways, each way as slow as its reader. It ends when
 * one of them ends, the client types nothing for too long or no longer answers, its key or session ends, or the server
 * closes. Then both are closed, once.
 */
import { TerminalControl } from '@lodge/contract';
import type { GuestClient, GuestTerminal, ProcessEnd, TerminalWanted } from '@lodge/guest';
import { Check } from 'typebox/value';
import type { RawData, WebSocket } from 'ws';
import { KeptSocket } from './kept-socket.ts';
import type { KeptOptions } from './kept-socket.ts';

/** The subprotocol that a client offers beside its key if it can set no header. */
export const terminalProtocol = 'lodge.terminal';

/** Bytes on their way to a client that reads slowly. */
const maxUnsentBytes = 1024 * 1024;
/** Output from before the client's connection: a shell's prompt. */
const maxEarlyBytes = 256 * 1024;

type BridgeOptions = Omit<KeptOptions, 'idleWords'>;

export class TerminalBridge {
  private readonly options: BridgeOptions;
  private terminal: GuestTerminal | null = null;
  private socket: WebSocket | null = null;
  private early: Buffer[] = [];
  private earlyBytes = 0;
  /** Set once the terminal has ended. */
  private ended: { readonly end: ProcessEnd | null } | null = null;
  private kept: KeptSocket | null = null;

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
    const options = { ...this.options, idleWords: 'nothing was typed for too long' };
    this.socket = socket;
    this.kept = new KeptSocket(socket, options, () => {
      this.terminal?.close();
      over();
    });
    socket.on('message', (data, isBinary) => this.take(data, isBinary));
    for (const chunk of this.early.splice(0)) this.show(chunk);
    this.terminal?.resume();
    if (this.ended !== null) this.finish(this.ended.end);
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
    this.kept?.rest();
    const bytes = data as Buffer;
    if (isBinary) {
      if (this.terminal?.write(bytes) === false) this.socket?.pause();
      return;
    }
    const control = controlOf(bytes);
    if (control === null) this.kept?.shut(1007, 'not a control message');
    else this.terminal?.resize({ columns: control.cols, rows: control.rows });
  }

  private finish(end: ProcessEnd | null): void {
    this.ended = { end };
    if (end === null) {
      this.kept?.shut(1011, 'the terminal was cut off');
      return;
    }
    this.socket?.send(JSON.stringify({ type: 'exit', exit_code: end.exitCode, signal: end.signal }));
    this.kept?.shut(1000, 'the shell has ended');
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
