/**
 * A server that tests kill and start again, as kill -9 does it. The database, the daemon in the guest and the runtime's gateway
 * outlive it, as they do where agents are machines.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { testDatabase } from '@lodge/testkit/postgres';
import type { TestDatabase } from '@lodge/testkit/postgres';
import { Daemon } from '../../../apps/guestd/src/testing.ts';
import { startGateway } from '../../e2e/api/gateway.ts';
import type { Job } from './server.ts';

export class KillableServer {
  readonly guest = new Daemon();
  /** Folders that a killed process leaves are made here. */
  readonly #home: string;
  readonly #database: TestDatabase;
  readonly #gateway: Server;
  /** Turns that reached the runtime, and those of them that go on. */
  readonly turns = { asked: 0, open: 0 };
  #child: ChildProcess | null = null;
  url = 'http://127.0.0.1:0';
  key = '';

  private constructor(home: string, database: TestDatabase, gateway: Server) {
    this.#home = home;
    this.#database = database;
    this.#gateway = gateway.on('request', (_request, reply) => {
      this.turns.asked += 1;
      this.turns.open += 1;
      reply.once('close', () => (this.turns.open -= 1));
    });
  }

  static async open(): Promise<KillableServer> {
    const home = await mkdtemp(join(tmpdir(), 'lodge-killed-'));
    const opened = new KillableServer(home, await testDatabase(), await startGateway());
    await opened.guest.prepare();
    await opened.guest.start();
    await opened.start();
    return opened;
  }

  get connectionString(): string {
    return this.#database.connectionString;
  }

  /** Starts it, at the address that it had. */
  async start(): Promise<void> {
    const job: Job = {
      connectionString: this.#database.connectionString,
      port: Number(new URL(this.url).port),
      guestPort: this.guest.port,
      gatewayPort: (this.#gateway.address() as AddressInfo).port,
    };
    const child = spawn(process.execPath, [join(import.meta.dirname, 'server.ts'), JSON.stringify(job)], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, TMPDIR: this.#home },
    });
    this.#child = child;
    const lines = createInterface({ input: child.stdout });
    const [line] = (await Promise.race([
      once(lines, 'line'),
      once(child, 'exit').then(([code]) => Promise.reject(new Error(`the server ended with ${code}`))),
    ])) as [string];
    const told = JSON.parse(line) as { readonly url: string; readonly key: string | null };
    this.url = told.url;
    this.key = told.key ?? this.key;
  }

  /** kill -9. */
  async kill(): Promise<void> {
    if (this.#child === null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    this.#child = null;
    await ended;
  }

  async close(): Promise<void> {
    await this.kill();
    await this.guest.remove();
    this.#gateway.closeAllConnections();
    await new Promise((resolve) => this.#gateway.close(resolve));
    await this.#database.drop();
    await rm(this.#home, { recursive: true, force: true });
  }
}
