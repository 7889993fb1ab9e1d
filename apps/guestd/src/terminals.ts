/**
 * Terminals of the agent and of root, each as long as its connection: what the host types comes in frames, what is shown goes out in frames.
 *
 *   open      the shell runs; both ways are as slow as their reader
 *   ended     the shell has ended: the last of its output and its exit are sent, then the connection is closed
 *   dropped   the host closed the connection, broke the protocol, or was silent for too long (a guest that was saved and loaded
 *             holds connections that nobody has any more): hung up, and killed a moment later
 *
 * Either way nothing of its session is left. What left the session by itself stays.
 */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  encodeFrame,
  FrameReader,
  maxTerminals,
  maxTerminalSide,
  protocolVersion,
  terminalInput,
  terminalOutput,
  terminalSilenceMs,
  type Frame,
  type MachineUser,
  type TerminalSize,
} from '@lodge/guest';
import type { CommandRecords } from './command-records.ts';
import { Refusal } from './errors.ts';
import { fieldsOf, integer, type Fields } from './fields.ts';
import type { Kernel } from './kernel.ts';
import { killSession } from './processes.ts';
import type { Settings } from './settings.ts';
import { startTerminal, type TerminalChild } from './terminal-child.ts';

/** A shell that is hung up may write its history and end its jobs. */
const hangUpMs = 300;
/** Between a shell's end and the last of what it has written. */
const lastOutputMs = 100;

interface Parts {
  readonly settings: Settings;
  readonly records: CommandRecords;
  readonly kernel: Kernel;
}

export class Terminals {
  private readonly parts: Parts;
  private open = 0;

  constructor(parts: Parts) {
    this.parts = parts;
  }

  /** Turns the connection into a terminal, and resolves when that is over. Rejects before anything was sent. */
  async serve(request: IncomingMessage, query: URLSearchParams, user: MachineUser, socket: Duplex): Promise<void> {
    const numbers = { columns: Number(query.get('columns') ?? NaN), rows: Number(query.get('rows') ?? NaN) };
    const size = sizeOf(numbers);
    const term = query.get('term') ?? '';
    if (!/^[\w.+-]{1,40}$/.test(term)) throw new Refusal(400, 'term must be the name of a kind of terminal');
    if (request.headers.upgrade !== 'lodge-terminal') throw new Refusal(400, 'upgrade must be lodge-terminal');
    if (this.open >= maxTerminals) throw new Refusal(503, `${maxTerminals} terminals are open already`);
    this.open += 1;
    try {
      const { settings, records, kernel } = this.parts;
      const child = await startTerminal(settings, { ...size, term, user });
      using _record = records.add(child.process.pid);
      await new Session(child, kernel, socket).run();
    } finally {
      this.open -= 1;
    }
  }
}

function sizeOf(fields: Fields): TerminalSize {
  const side = (key: string): number => integer(fields, key, 1, maxTerminalSide);
  return { columns: side('columns'), rows: side('rows') };
}

class Session {
  private readonly child: TerminalChild;
  private readonly kernel: Kernel;
  private readonly socket: Duplex;
  private readonly reader = new FrameReader();
  private readonly dropped = Promise.withResolvers<void>();
  private silence: NodeJS.Timeout | undefined;

  constructor(child: TerminalChild, kernel: Kernel, socket: Duplex) {
    this.child = child;
    this.kernel = kernel;
    this.socket = socket;
  }

  async run(): Promise<void> {
    const { process: child, control } = this.child;
    const exited = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : Promise.resolve();
    this.connect();
    const ended = await Promise.race([exited.then(() => true), this.dropped.promise.then(() => false)]);
    clearTimeout(this.silence);
    if (ended) await this.sayExit();
    // Its last holder closes the controlling side: the kernel hangs the session up.
    control.destroy();
    if (!ended) await Promise.race([exited, sleep(hangUpMs)]);
    killSession(child.pid!);
    this.socket.end();
  }

  private connect(): void {
    const { socket } = this;
    const { control } = this.child;
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: lodge-terminal\r\nx-guestd-protocol: ${protocolVersion}\r\n\r\n`,
    );
    control.on('data', (chunk: Buffer) => {
      if (!socket.writable || socket.write(encodeFrame(terminalOutput.data, chunk))) return;
      control.pause();
      socket.once('drain', () => control.resume());
    });
    control.on('error', () => undefined); // Nobody has the other side any more: the session's end says so too.
    const drop = (): void => this.dropped.resolve();
    for (const event of ['close', 'end', 'error'] as const) socket.on(event, drop);
    socket.on('data', (chunk: Buffer) => this.take(chunk));
    this.heard();
  }

  private take(chunk: Buffer): void {
    this.heard();
    try {
      for (const frame of this.reader.push(chunk)) this.obey(frame);
    } catch {
      this.dropped.resolve();
    }
  }

  private obey({ kind, payload }: Frame): void {
    const { control, path } = this.child;
    switch (kind) {
      case terminalInput.data:
        if (control.destroyed || control.write(payload)) return;
        this.socket.pause();
        control.once('drain', () => this.socket.resume());
        return;
      case terminalInput.resize:
        void this.kernel.resizeTerminal(path, sizeOf(fieldsOf(JSON.parse(payload.toString())))).catch(() => undefined);
        return;
      case terminalInput.ping:
        this.socket.write(encodeFrame(terminalOutput.pong));
        return;
      default:
        throw new Error(`a frame of kind ${kind}`);
    }
  }

  private heard(): void {
    clearTimeout(this.silence);
    this.silence = setTimeout(() => this.dropped.resolve(), terminalSilenceMs);
  }

  private async sayExit(): Promise<void> {
    const { exitCode, signalCode: signal } = this.child.process;
    await Promise.race([this.dropped.promise, sleep(lastOutputMs)]);
    if (this.socket.writable) {
      this.socket.write(encodeFrame(terminalOutput.exit, JSON.stringify({ exitCode, signal })));
    }
  }
}
