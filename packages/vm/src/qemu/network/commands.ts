import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { NamedError } from '@lodge/domain';

/**
 * A tool needs milliseconds. Its first run loads modules of the kernel, for which a slow and busy host needs most of a
 * minute.
 */
const timeoutMs = 180_000;
const maxOutputBytes = 64 << 20;
const crashes: ReadonlySet<NodeJS.Signals> = new Set(['SIGSEGV', 'SIGABRT', 'SIGBUS']);
const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' };

/** Flag of a file without a name, which Node does not export (open(2)). */
const O_TMPFILE = 0o20000000 | constants.O_DIRECTORY;
/** A file system in memory, which every Linux has here. */
const inputFolder = '/dev/shm';

/** nft itself crashed. An older nft than the program that made a table beside Lodge's crashes when it lists that table. */
export class NftCrashError extends NamedError {
  constructor(options: ErrorOptions = {}) {
    super(`nft crashes where it lists tables that a newer nft has made: ${nftCrashAdvice}`, options);
  }
}
export const nftCrashAdvice =
  'install nftables 1.0.9 or newer, or remove those tables (of a container, a VPN or another firewall) and start again';

/**
 * Runs a tool without a shell. Resolves to its standard output; rejects with its standard error. Kills it after `timeoutMs`.
 * Input comes from a file: nft 1.0.9 of Ubuntu 24.04 opens its standard input by name, and Node's sockets cannot be opened.
 */
export async function run(command: string, args: readonly string[], input: string | null = null): Promise<string> {
  if (input === null) return runWith('ignore', command, args);
  await using file = await open(inputFolder, constants.O_RDWR | O_TMPFILE, 0o600);
  // The write has a position, so that the tool reads from the beginning.
  const bytes = Buffer.from(input);
  for (let at = 0; at < bytes.length;) at += (await file.write(bytes, at, bytes.length - at, at)).bytesWritten;
  return await runWith(file.fd, command, args);
}

function runWith(stdin: 'ignore' | number, command: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      env,
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
      stdio: [stdin, 'pipe', 'pipe'],
    });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    let bytes = 0;
    const collect = (into: Buffer[]) => (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxOutputBytes) child.kill('SIGKILL');
      else into.push(chunk);
    };
    child.stdout?.on('data', collect(stdout));
    child.stderr?.on('data', collect(stderr));
    child.on('error', (error) => reject(new Error(`${command} does not start: ${error.message}`, { cause: error })));
    child.on('close', (code, signal) => {
      if (code === 0) resolve(Buffer.concat(stdout).toString());
      else if (command === 'nft' && signal !== null && crashes.has(signal)) reject(new NftCrashError());
      else reject(new Error(`${command} ended with ${signal ?? code}: ${Buffer.concat(stderr).toString().trim()}`));
    });
  });
}

/** Runs lines of `ip` in one process. Stops at the first that fails. */
export async function ipBatch(lines: readonly string[]): Promise<void> {
  if (lines.length > 0) await run('ip', ['-batch', '-'], lines.join('\n'));
}

/** Applies nft text in one transaction: all of it or nothing. */
export async function nft(text: string): Promise<void> {
  await run('nft', ['-f', '-'], text);
}
