import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import type { MachineUser } from '@lodge/guest';
import { Refusal, systemCode } from './errors.ts';
import type { Settings } from './settings.ts';

export interface Command {
  readonly argv: readonly string[];
  readonly user: MachineUser;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdio: StdioOptions;
  /** Work of the daemon itself, which goes on while the agent is frozen. */
  readonly isOwn?: true;
}

/**
 * Starts a process as the leader of a session and process group of its own, with a clean environment.
 * The daemon is out of reach of the kernel's out-of-memory killer; what it starts is not.
 */
export function start(settings: Settings, command: Command): ChildProcess {
  const { agent } = settings;
  const isAgent = command.user === 'agent';
  const ids = isAgent && process.getuid?.() !== agent.uid ? { uid: agent.uid, gid: agent.gid } : {};
  const [file = '', ...args] = command.argv;
  const child = spawn(file, args, {
    ...ids,
    cwd: command.cwd ?? (isAgent ? `${settings.root}/workspace` : '/'),
    env: { ...environments[command.user], ...command.env },
    detached: true,
    stdio: command.stdio,
  });
  if (child.pid !== undefined) {
    setOomScore(child.pid, 0);
    if (!command.isOwn) joinAgent(settings.root, child.pid);
  }
  return child;
}

/** Control groups (version 2) of the guest, and the one of all that is the agent's: `freezer.ts`. */
export const groupsFolder = (root: string): string => `${root}/sys/fs/cgroup`;
export const agentGroup = 'agent';

/** What is started while the agent is frozen waits, too. */
function joinAgent(root: string, pid: number): void {
  try {
    writeFileSync(`${groupsFolder(root)}/${agentGroup}/cgroup.procs`, String(pid), { flag: 'r+' });
  } catch {
    // Already ended, or without control groups (in a test): the freezer tells.
  }
}

/** What pip and npm install for a user comes first, as in a login shell (`/etc/profile.d/lodge.sh` of the image). */
const environmentOf = (name: MachineUser, home: string): Readonly<Record<string, string>> => ({
  PATH: `${home}/.local/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
  LANG: 'C.UTF-8',
  HOME: home,
  USER: name,
  LOGNAME: name,
  SHELL: '/bin/sh',
});
export const environments: Readonly<Record<MachineUser, Readonly<Record<string, string>>>> = {
  agent: environmentOf('agent', '/home/agent'),
  root: environmentOf('root', '/root'),
};

export interface End {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

/** The end of a child. `name` is what a refusal calls it when it could not be started. */
export function ended(child: ChildProcess, name: string): Promise<End> {
  return new Promise((resolve, reject) => {
    child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }));
    child.once('error', (error) => {
      reject(
        new Refusal(
          400,
          `${name} could not be started (${systemCode(error) ?? 'unknown reason'}); is there such a command and folder?`,
        ),
      );
    });
  });
}

/** Processes that are alive, as far as /proc shows them. */
export function processes(): ProcessStat[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map((pid) => processStat(Number(pid))).filter((stat) => stat !== null);
}

/** Kills every process of the session that `pid` leads or led, whatever its group. */
export function killSession(pid: number): void {
  for (const stat of processes()) if (stat.session === pid) signalProcess(stat.pid, 'SIGKILL');
}

/** Kills every process of the group that `pid` leads or led. */
export function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nobody is left in it.
  }
}

export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
}

/** -1000 (never killed for memory) .. 1000. Without the right to lower it, it stays. */
export function setOomScore(pid: number, score: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, String(score));
  } catch {
    // Already ended, or not root (in a test).
  }
}

export interface ProcessStat {
  readonly pid: number;
  readonly group: number;
  readonly session: number;
  /** Clock ticks after boot; with `pid` it names a process for good. */
  readonly startTime: number;
}

/** A live process's facts from `/proc/<pid>/stat` (proc(5)); null when it is gone or a zombie. */
export function processStat(pid: number): ProcessStat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return null;
    return { pid, group: Number(fields[2]), session: Number(fields[3]), startTime: Number(fields[19]) };
  } catch {
    return null;
  }
}

/** Whether the process was started with `variable` (`NAME=value`) in its environment. */
export function hasVariable(pid: number, variable: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(variable);
  } catch {
    return false; // Ended meanwhile, or another user's (in a test).
  }
}

/** Whether that very process runs, not another one that was given its number since. */
export const isAlive = ({ pid, startTime }: Pick<ProcessStat, 'pid' | 'startTime'>): boolean =>
  processStat(pid)?.startTime === startTime;
