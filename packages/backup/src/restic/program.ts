/**
 * One run of restic, the program of the machine. The password goes in by its standard input, credentials by an environment
 * that is root's alone to read, and neither by its command line. Every line and the whole of what it says is bounded. The
 * kernel ends it with this process.
 */
import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdir, open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { BackupError } from '../errors.ts';

const run = promisify(execFile);
/** Since then a repository is compressed. Debian 12 has 0.14, Ubuntu 24.04 0.16, Debian 13 0.18. */
const oldest = [0, 14] as const;
/** Restoring keeps holes since then. */
const firstSparse = [0, 15] as const;
/** The paths of all snapshots are in one answer. */
const maxOutputBytes = 256 * 2 ** 20;
const maxErrorBytes = 64 * 1024;
/** A storage that answers nothing for so long does not answer at all. restic itself tries again for up to 15 minutes. */
const stallMs = 20 * 60_000;

export interface ResticOptions {
  readonly repository: string;
  readonly password: string;
  /** The arguments of the ssh that reaches an sftp server; null for another place. */
  readonly ssh: string | null;
  /** Null: no cache is kept. A place by sftp needs one. */
  readonly cacheDir: string | null;
  readonly credentials: Readonly<Record<string, string>>;
}

export interface Run {
  readonly cwd?: string;
  /** The longest that it may be silent. Default: 20 minutes. */
  readonly silentMs?: number;
  /** Given each line that is a JSON object. */
  readonly onLine?: (line: Readonly<Record<string, unknown>>) => void;
}

export interface Ended {
  readonly code: number;
  /** Its last line on standard output that is JSON. */
  readonly json: unknown;
  /** The end of its complaints. For patterns, never to be shown. */
  readonly said: string;
}

/** Rejects with `BackupError` where restic is missing or too old. */
export async function resticAbilities(): Promise<{ readonly sparse: boolean }> {
  const { stdout } = await run('restic', ['version']).catch((cause: unknown) => {
    throw new BackupError('restic is missing, which keeps the backups: scripts/setup.sh installs it.', { cause });
  });
  const [, major, minor] = /^restic (\d+)\.(\d+)/.exec(stdout) ?? [];
  const found = [Number(major), Number(minor)] as const;
  const isSince = (least: readonly [number, number]): boolean =>
    found[0] > least[0] || (found[0] === least[0] && found[1] >= least[1]);
  if (!isSince(oldest)) throw new BackupError('This restic is too old for backups of Lodge, which need 0.14 or newer.');
  return { sparse: isSince(firstSparse) };
}

export async function runRestic(options: ResticOptions, args: readonly string[], how: Run = {}): Promise<Ended> {
  const log = sshLog(options);
  if (log !== null) {
    await mkdir(dirname(log), { recursive: true, mode: 0o700 });
    await rm(log, { force: true });
  }
  const child = start(options, args, how.cwd);
  const timer = setTimeout(() => child.kill('SIGKILL'), how.silentMs ?? stallMs);
  const ended = new Promise<number>((resolve, reject) => {
    child.once('error', reject).once('close', (code) => resolve(code ?? -1));
  });
  child.stdin!.on('error', () => undefined).end(`${options.password}\n`);
  const [code, json, said] = await Promise.all([
    ended,
    lastJson(child, how.onLine, () => timer.refresh()),
    endOf(child.stderr!, () => timer.refresh()),
  ]).finally(() => clearTimeout(timer));
  const ofSsh = log === null || code === 0 ? '' : await tailOf(log);
  return { code, json, said: [said, ofSsh, code === -1 ? 'i/o timeout' : ''].join('\n') };
}

/** ssh writes into a file: restic ends together with its ssh, and may not have read the last words by then. */
const sshLog = ({ ssh, cacheDir }: ResticOptions): string | null =>
  ssh === null || cacheDir === null ? null : join(cacheDir, 'ssh.log');

async function tailOf(path: string): Promise<string> {
  const file = await open(path).catch(() => null);
  if (!file) return '';
  try {
    const { size } = await file.stat();
    const { buffer, bytesRead } = await file.read({
      buffer: Buffer.alloc(maxErrorBytes),
      position: Math.max(0, size - maxErrorBytes),
    });
    return buffer.toString('latin1', 0, bytesRead);
  } finally {
    await file.close();
  }
}

function start(given: ResticOptions, args: readonly string[], cwd?: string): ChildProcess {
  const { repository, ssh, cacheDir, credentials } = given;
  const log = sshLog(given);
  const cache = cacheDir === null ? ['--no-cache'] : ['--cache-dir', cacheDir, '--cleanup-cache'];
  const sshCommand = `ssh ${log === null ? '' : `-E '${log}' `}${ssh}`;
  // restic reads the option as a line of comma-separated values first, and then as a shell would.
  const extended = ssh === null ? [] : ['-o', `"sftp.command=${sshCommand.replaceAll('"', '""')}"`];
  const argv = ['--pdeathsig=KILL', '--', 'restic', '--json', ...cache, ...extended, ...args];
  const { PATH, HOME, TMPDIR, SSH_AUTH_SOCK } = process.env;
  const env = {
    PATH,
    HOME,
    TMPDIR,
    SSH_AUTH_SOCK,
    LC_ALL: 'C',
    RESTIC_PROGRESS_FPS: '1',
    RESTIC_REPOSITORY: repository,
    ...credentials,
  };
  return spawn('setpriv', argv, { env, cwd, stdio: 'pipe' });
}

async function lastJson(child: ChildProcess, onLine: Run['onLine'], onAny: () => void): Promise<unknown> {
  let json: unknown = null;
  let bytes = 0;
  child.stdout!.on('data', (part: Buffer) => {
    bytes += part.length;
    if (bytes > maxOutputBytes) child.kill('SIGKILL');
    onAny();
  });
  for await (const line of createInterface({ input: child.stdout! })) {
    // The first line says that the password is read from standard input.
    if (!line.startsWith('{') && !line.startsWith('[')) continue;
    try {
      json = JSON.parse(line);
    } catch {
      continue;
    }
    if (onLine && typeof json === 'object' && json !== null) onLine(json as Record<string, unknown>);
  }
  return json;
}

async function endOf(stream: Readable, onAny: () => void): Promise<string> {
  let text = '';
  for await (const part of stream) {
    onAny();
    text = `${text}${(part as Buffer).toString('latin1')}`.slice(-maxErrorBytes);
  }
  return text;
}
