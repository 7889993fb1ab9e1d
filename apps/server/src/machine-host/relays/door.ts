/**
 * A control plane asks root here to start its relay processes. There are two sockets a group of platforms, in a folder that
 * only root and the control plane can pass:
 *
 *   <folder>/<group>      each connection becomes a process, as its one channel; the process before it is killed first
 *   <folder>/<group>.end  a connection kills the group's process, and is closed when that is gone
 *
 * Root reads nothing that comes here: the process gets a connection before a byte of it is read.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, readFile, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { join } from 'node:path';
import type { Log } from '@lodge/ports';
import { groupNames } from '../../relay/groups.ts';
import type { RelayGroup } from '../../relay/groups.ts';
import { passOn } from '../pass-on.ts';
import type { Launched } from '../../relay/relay-process.ts';
import type { Config } from '../../config/config.ts';
import type { User } from '../control-user.ts';

/** Half a megabyte a second of its log: an honest relay writes some lines a minute. */
const bytesPerMs = 512;

/** The command that root runs, and its environment. */
export interface RelayCommand {
  readonly argv: readonly [string, ...string[]];
  readonly env: NodeJS.ProcessEnv;
}

export interface RelayDoorOptions {
  /** The folder, which root owns; it is made if it is missing. */
  readonly folder: string;
  /** The user who may have processes started, beside root; null: nobody. */
  readonly control: User | null;
  readonly command: (group: RelayGroup) => RelayCommand;
  readonly log: Log;
}

export interface RelayDoor {
  /** Processes that root has started: a relay itself, or a wrapper around it. */
  readonly pids: readonly number[];
  /** Kills every process. */
  close(): Promise<void>;
}

/** Its path in the data folder. */
export const relayDoorOf = ({ dataDir }: Pick<Config, 'dataDir'>): string => join(dataDir, 'relays');

export async function openRelayDoor({ folder, control, command, log }: RelayDoorOptions): Promise<RelayDoor> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (control !== null) await chown(folder, 0, control.gid);
  await chmod(folder, control === null ? 0o700 : 0o710);
  const places = groupNames.map((group) => new Place(() => command(group), log));
  const servers = await Promise.all(
    places.flatMap((place, index) => {
      const path = join(folder, groupNames[index]!);
      return [
        listen(path, control, (socket) => place.start(socket)),
        listen(`${path}.end`, control, (socket) => void place.end().finally(() => socket.destroy())),
      ];
    }),
  );
  return {
    get pids() {
      return places.flatMap(({ pid }) => pid ?? []);
    },
    async close() {
      for (const server of servers) server.close();
      await Promise.all(places.map((place) => place.close()));
    },
  };
}

/** Connects like a control plane: the process is at the other end of the stream. */
export async function launchRelay(folder: string, group: RelayGroup): Promise<Launched> {
  const stream = connect(join(folder, group));
  await once(stream, 'connect');
  return {
    stream,
    async kill() {
      const end = connect(join(folder, `${group}.end`));
      end.resume();
      // A door that does not answer is closing, with all its processes.
      await new Promise((resolve) => end.once('error', resolve).once('close', resolve));
    },
  };
}

async function listen(path: string, control: User | null, take: (socket: Socket) => void): Promise<Server> {
  // The instance lock proves that nobody else listens here.
  await rm(path, { force: true });
  // The process would miss a byte that is read here.
  const server = createServer({ pauseOnConnect: true }, take);
  server.listen(path);
  await once(server, 'listening');
  if (control !== null) await chown(path, 0, control.gid);
  await chmod(path, control === null ? 0o600 : 0o660);
  return server;
}

/** A place for one process at a time. */
class Place {
  private readonly command: () => RelayCommand;
  private readonly log: Log;
  private child: ChildProcess | null = null;
  private next: Socket | null = null;
  private isClosing = false;
  private changing: Promise<void> = Promise.resolve();

  constructor(command: () => RelayCommand, log: Log) {
    this.command = command;
    this.log = log;
  }

  get pid(): number | undefined {
    return this.child?.pid;
  }

  /** Takes the newest connection; earlier ones that still wait are closed. */
  start(socket: Socket): void {
    socket.on('error', () => undefined);
    this.next?.destroy();
    this.next = socket;
    this.changing = this.end().then(() => this.startNext());
  }

  /** Resolves when the process is gone. */
  async end(): Promise<void> {
    await this.changing;
    const { child } = this;
    if (child === null) return;
    const gone = once(child, 'exit');
    await kill(child);
    await gone;
  }

  async close(): Promise<void> {
    this.isClosing = true;
    this.next?.destroy();
    this.next = null;
    await this.end();
  }

  private startNext(): void {
    const socket = this.next;
    this.next = null;
    if (socket === null || socket.destroyed || this.isClosing) return;
    const { argv, env } = this.command();
    const [program, ...args] = argv;
    const child = spawn(program, args, {
      cwd: '/',
      env,
      // The fourth, at `relayFd`, is its one channel.
      stdio: ['ignore', 'ignore', 'pipe', socket],
      // The process has its own session, without a terminal.
      detached: true,
    });
    // The process has its own copy.
    socket.destroy();
    if (child.stderr !== null) passOn(child.stderr, process.stderr, bytesPerMs);
    child.once('error', (error) => this.log.error({ err: error }, 'a relay process could not be started'));
    if (child.pid === undefined) return;
    this.child = child;
    child.once('exit', () => (this.child = null));
  }
}

/**
 * A wrapper around a box waits for the process within, and ends with it. A hostile process can live on when its parent dies.
 */
async function kill(child: ChildProcess): Promise<void> {
  const within = await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').catch(() => '');
  if (child.exitCode !== null || child.signalCode !== null) return;
  const pids = within.split(' ').filter(Boolean).map(Number);
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended.
    }
  }
  if (pids.length === 0) child.kill('SIGKILL');
}
