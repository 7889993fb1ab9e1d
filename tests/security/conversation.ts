/**
 * A TCP connection that stays open. As a process it is one end: `serve <port>` echoes what it gets on every address; `talk <host> <port>` connects, prints `open`, sends
 * each line of standard input and prints what comes back, and `closed` when the connection ends.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { letGo } from './shell.ts';

export type End = 'answered' | 'closed' | 'silent';

/** How long an answer may take; one that does not come takes all of it. */
const patienceMs = 4000;

function start(namespace: string, ...args: string[]): ChildProcess {
  const argv = [`--net=/run/netns/${namespace}`, process.execPath, fileURLToPath(import.meta.url), ...args];
  const child = spawn('nsenter', argv, { stdio: ['pipe', 'pipe', 'inherit'] });
  letGo(child);
  return child;
}

export async function serveEcho(namespace: string, port: number): Promise<void> {
  await once(start(namespace, 'serve', String(port)).stdout!, 'data');
}

export class Conversation implements Disposable {
  readonly #child: ChildProcess;
  readonly #lines: string[] = [];

  private constructor(child: ChildProcess) {
    this.#child = child;
    createInterface(child.stdout!).on('line', (line) => this.#lines.push(line));
  }

  /** Null when it is refused, or not answered. */
  static async open(namespace: string, host: string, port: number): Promise<Conversation | null> {
    const conversation = new Conversation(start(namespace, 'talk', host, String(port)));
    if ((await conversation.#next()) === 'open') return conversation;
    conversation[Symbol.dispose]();
    return null;
  }

  async say(text: string): Promise<End> {
    this.#child.stdin!.write(`${text}\n`);
    const line = await this.#next();
    if (line === null) return 'silent';
    return line === text ? 'answered' : 'closed';
  }

  async #next(): Promise<string | null> {
    for (let waited = 0; this.#lines.length === 0 && waited < patienceMs; waited += 20) await sleep(20);
    return this.#lines.shift() ?? null;
  }

  [Symbol.dispose](): void {
    this.#child.kill('SIGKILL');
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , end, ...rest] = process.argv;
  if (end === 'serve') {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.pipe(socket);
    });
    await once(server.listen(Number(rest[0]), '0.0.0.0'), 'listening');
    console.log('ready');
    process.stdin.resume();
  } else {
    const socket = connect({ host: rest[0]!, port: Number(rest[1]) });
    socket.on('error', () => undefined);
    socket.on('close', () => console.log('closed'));
    socket.on('connect', () => console.log('open'));
    socket.pipe(process.stdout);
    process.stdin.on('data', (chunk) => socket.write(chunk));
  }
}
