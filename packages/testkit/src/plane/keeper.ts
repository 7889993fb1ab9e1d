/**
 * Ends a Lodge of a test whose process is gone before it could: killed, aborted, or out of time. Its machines would run on.
 *
 * A shell in a session of its own, which no Ctrl-C reaches, waits at a pipe. The kernel closes it with its test's process.
 */
import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';

const script = 'read -r word; [ "$word" = released ] || { "$@"; rm -rf -- "$LODGE_DATA_DIR"; }';

export interface Keeper {
  /** The caller ends the Lodge. */
  release(): void;
}

/** `down` ends the Lodge of `env` when this process is gone. */
export function keep(down: readonly string[], env: NodeJS.ProcessEnv): Keeper {
  const shell = spawn('sh', ['-c', script, 'keeper', ...down], {
    env,
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  shell.unref();
  (shell.stdin as Socket).unref();
  shell.stdin.on('error', () => undefined); // It was killed.
  return { release: () => shell.stdin.end('released\n') };
}
