import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { chmod, chown } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { dialTo, guestClient, GuestError, type GuestClient } from '@lodge/guest';

/** A daemon as a child process on loopback, over a folder that stands for the guest's root. */
export class Daemon {
  readonly root = mkdtempSync('/tmp/lodge-guestd-');
  port = 0;
  child: ChildProcess | null = null;
  private readonly uid = process.getuid?.() === 0 ? 1000 : (process.getuid?.() ?? 1000);

  async prepare(): Promise<void> {
    await chmod(this.root, 0o755);
    for (const folder of ['workspace', 'etc/lodge', 'sys/devices/system/cpu']) {
      mkdirSync(join(this.root, folder), { recursive: true });
    }
    await chown(join(this.root, 'workspace'), this.uid, this.uid);
    mkdirSync(join(this.root, 'proc'));
    writeFileSync(join(this.root, 'proc/vmstat'), 'pgfault 7\noom_kill 3\noom_kill_other 1\n');
    for (const [cpu, online] of [
      [0, null],
      [1, 1],
      [2, 0],
    ] as const) {
      const folder = join(this.root, `sys/devices/system/cpu/cpu${cpu}`);
      mkdirSync(folder);
      if (online !== null) writeFileSync(join(folder, 'online'), String(online));
    }
  }

  async start(peer = '127.0.0.1', more: readonly string[] = []): Promise<void> {
    const before = this.log().length;
    const options = ['--port', '0', '--root', this.root, '--peer', peer, '--agent-uid', String(this.uid), ...more];
    const command = [process.execPath, join(import.meta.dirname, 'main.ts'), ...options] as const;
    const [program, ...args] = process.getuid?.() === 0 ? [...withoutProfiles, ...command] : command;
    this.child = spawn(program, args, { stdio: 'inherit' });
    const line = await until(() => /listening on port (\d+)/.exec(this.log().slice(before)));
    this.port = Number(line[1]);
  }

  async kill(): Promise<void> {
    if (this.child === null || this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.child.kill('SIGKILL');
    await once(this.child, 'exit');
  }

  /** For calls that carry this credential. */
  clientWith(credential: string | null): GuestClient {
    return guestClient({ dial: dialTo('127.0.0.1'), port: this.port, credential: () => Promise.resolve(credential) });
  }

  get client(): GuestClient {
    return this.clientWith(null);
  }

  log(): string {
    const file = join(this.root, 'var/log/lodge/guestd/current');
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  }

  async remove(): Promise<void> {
    await this.kill();
    const variable = `LODGE_RUNTIME=${this.root}/etc/lodge/runtime.json`;
    for (const pid of readdirSync('/proc')) if (environmentOf(pid).includes(variable)) endGroup(Number(pid));
    rmSync(this.root, { recursive: true });
  }
}

/** A login shell of root reads the profile of whoever runs the tests. The daemon sees empty files in its place. */
const withoutProfiles = [
  'unshare',
  '--mount',
  'sh',
  '-c',
  'for file in /root/.bash_profile /root/.bash_login /root/.profile; do [ ! -e "$file" ] || mount --bind /dev/null "$file"; done; exec "$@"',
  'sh',
] as const;

function environmentOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
  } catch {
    return []; // Not a process, or another user's.
  }
}

function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

type Sought<T> = T | null | undefined | false | 0 | '';

/** What `look` gives once it is anything but nothing: a file may be there and still be empty. */
export async function until<T>(look: () => Sought<T> | Promise<Sought<T>>, timeoutMs = 60_000): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const found = await look();
    if (found !== null && found !== undefined && found !== false && found !== 0 && found !== '') return found;
    if (Date.now() > deadline) throw new Error(`not seen within ${timeoutMs} ms: ${String(look)}`);
    await sleep(20);
  }
}

export const isAlive = (pid: number): boolean => {
  try {
    return !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
};

export function refusedWith(status: number | null, message?: RegExp) {
  return (error: unknown): boolean => {
    assert.ok(error instanceof GuestError, String(error));
    assert.equal(error.status, status, error.message);
    if (message) assert.match(error.message, message);
    return true;
  };
}
