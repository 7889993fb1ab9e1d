/** The control plane as a process without privileges, at the other end of a channel that nobody else can reach. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Channel } from '@lodge/vm/remote';
import type { Config } from '../config/config.ts';
import { processLogLevel } from '../process-output.ts';
import { controlEnvironment } from './control-environment.ts';
import type { ControlGroup } from './control-group.ts';
import type { User } from './control-user.ts';
import { channelFd, controlPlaneRole } from './handover.ts';
import { passOn } from './pass-on.ts';
import { ownCheckout, programFor } from './program.ts';

/** Least time to read the pipes of a process that has ended. */
const lastWordsMs = 1000;
/** 4 MiB a second of its output: some 20,000 lines of its log. */
const bytesPerMs = 4096;

export interface ControlProcess {
  readonly pid: number;
  readonly channel: Channel;
  /** Resolves with the process' exit code when it has ended; 1 if a signal ended it. */
  readonly ended: Promise<number>;
  kill(): void;
}

export interface ControlProcessOptions {
  /** The file that the process runs, with this process' options. */
  readonly entry: string;
  /** The folder that has the file and Node; by default the one of this file. */
  readonly checkout?: string;
  readonly user: User;
  /** The group of the process and all that it starts. */
  readonly group: Pick<ControlGroup, 'through'>;
  readonly ownFolder: string;
  readonly env: NodeJS.ProcessEnv;
  /** Environment variables that the entry itself reads, beside those of every control plane. */
  readonly variables?: readonly string[];
  readonly config: Config;
}

/** Starts the process, which does nothing before the handover. */
export async function startControlProcess(options: ControlProcessOptions): Promise<ControlProcess> {
  const { entry, checkout = ownCheckout, user, group, ownFolder, env, config } = options;
  const place = { node: process.execPath, entry, checkout, view: join(config.dataDir, 'program') };
  const { through, argv } = await programFor(user, place);
  const become = ['setpriv', ...asControlUser(user, await capabilities(config)), '--'];
  const [command, ...args] = [...group.through, ...through, ...become, ...argv, controlPlaneRole];
  const level = processLogLevel(config, env);
  // The fourth, at `channelFd`, is a pair of sockets without a name.
  const child = spawn(command, args, {
    cwd: '/',
    env: { ...controlEnvironment(env, user, ownFolder, options.variables), LODGE_LOG_LEVEL: level },
    // The outputs are pipes: only root has the log files, and systemd's journal goes by the writer's control group
    // (`journalctl -u`).
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    // The process has a session of its own: with root's terminal it could type into the shell that started Lodge (TIOCSTI).
    detached: true,
  });
  passOn(child.stdout!, process.stdout, bytesPerMs);
  passOn(child.stderr!, process.stderr, bytesPerMs);
  const ended = endOf(child);
  await once(child, 'spawn');
  const channel = new Channel(child.stdio[channelFd] as Duplex, { peer: 'controlPlane' });
  return { pid: child.pid!, channel, ended, kill: () => void child.kill('SIGKILL') };
}

/** It ends with this process in every case, and can never get more privileges than these. */
const asControlUser = ({ uid, gid }: User, capability: string | null): string[] => [
  `--reuid=${uid}`,
  `--regid=${gid}`,
  '--clear-groups',
  '--no-new-privs',
  `--inh-caps=-all${capability ? `,+${capability}` : ''}`,
  `--ambient-caps=-all${capability ? `,+${capability}` : ''}`,
  `--bounding-set=-all${capability ? `,+${capability}` : ''}`,
  '--pdeathsig=KILL',
];

/** No capabilities, unless the settings have a port that only root may listen on. */
async function capabilities({ port, brokerPort, metricsPort }: Config): Promise<string | null> {
  const text = await readFile('/proc/sys/net/ipv4/ip_unprivileged_port_start', 'utf8').catch(() => '1024');
  const ports = [port, brokerPort, metricsPort ?? 0].filter((each) => each !== 0);
  return ports.some((each) => each < Number(text)) ? 'net_bind_service' : null;
}

async function endOf(child: ChildProcess): Promise<number> {
  const closed = new Promise((resolve) => child.once('close', resolve));
  const [code] = (await once(child, 'exit')) as [number | null];
  // Its last output comes through the pipes, which its children may hold open.
  await Promise.race([closed, sleep(lastWordsMs)]);
  return code ?? 1;
}
