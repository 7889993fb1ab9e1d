import { spawn } from 'node:child_process';

const timeoutMs = 30_000;
const maxOutputBytes = 64 << 20;
const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' };

/** Runs a tool without a shell and resolves to its standard output; rejects with what it said on standard error. Killed after 30 s. */
export function run(command: string, args: readonly string[], input = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env, timeout: timeoutMs, killSignal: 'SIGKILL' });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    let bytes = 0;
    const collect = (into: Buffer[]) => (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxOutputBytes) child.kill('SIGKILL');
      else into.push(chunk);
    };
    child.stdout.on('data', collect(stdout));
    child.stderr.on('data', collect(stderr));
    child.on('error', (error) => reject(new Error(`${command} does not start: ${error.message}`, { cause: error })));
    child.on('close', (code, signal) => {
      if (code === 0) resolve(Buffer.concat(stdout).toString());
      else reject(new Error(`${command} ended with ${signal ?? code}: ${Buffer.concat(stderr).toString().trim()}`));
    });
    // A tool that ends before it has read everything says why on standard error; the broken pipe itself tells nothing.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
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
