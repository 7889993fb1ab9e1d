/** Programs that the tests of releases start: git, commands that are watched while they run, and a stub of systemd. */
import { execFile } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export async function git(folder: string, ...args: string[]): Promise<string> {
  const who = ['-c', 'user.name=A test', '-c', 'user.email=test@example.invalid', '-c', 'commit.gpgsign=false'];
  return (await run('git', [...who, '-C', folder, ...args], { maxBuffer: 2 ** 26 })).stdout.trim();
}

/** A command that was started: what it has said so far, and its end. */
export class Said {
  text = '';
  readonly child: ChildProcess;
  constructor(child: ChildProcess) {
    this.child = child;
    for (const stream of [child.stdout!, child.stderr!])
      stream.on('data', (bytes: Buffer) => (this.text += String(bytes)));
  }
  get code(): number | null {
    return this.child.exitCode;
  }
  /** Until it says so, or has ended. */
  async until(words: string): Promise<this> {
    while (this.child.exitCode === null && this.child.signalCode === null && !this.text.includes(words)) await sleep(5);
    return this;
  }
}

/** As systemd does with the unit, as far as an upgrade asks for it. */
export const systemctl = (folder: string, checkout: string): string => `#!/bin/bash
cd ${folder}
pid=$(cat pid 2>/dev/null)
case $1 in
  show)
    state=inactive
    [ -z "$pid" ] || [ ! -e /proc/$pid ] || state=active
    printf '%s\\n' ActiveState=$state MainPID=$pid NRestarts=0 WorkingDirectory=${checkout}
    [ -z "$pid" ] || [ $state = active ] || printf '%s\\n' ActiveState=failed ;;
  start)
    . ./settings
    setsid bash ${checkout}/scripts/start.sh >said 2>&1 </dev/null &
    echo $! >pid ;;
  stop)
    [ -z "$pid" ] || kill $pid
    while [ -n "$pid" ] && [ -e /proc/$pid ]; do sleep 0.1; done
    rm -f pid ;;
esac
`;
