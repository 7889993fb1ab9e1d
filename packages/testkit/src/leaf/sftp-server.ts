/** A real sshd on loopback for one test file: without privileges, with keys and a port of its own. It ends with its test. */
import { execFile, execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
/** Every Debian has this user, and nothing runs as it. */
const user = 'daemon';
const startMs = 60_000;

export class SftpServer {
  /** A configuration of ssh that knows the host and has a key that it takes. */
  readonly sshConfig: string;
  private readonly folder: string;
  private readonly port: number;
  private child: ChildProcess | null = null;

  private constructor(folder: string, port: number) {
    this.folder = folder;
    this.port = port;
    this.sshConfig = join(folder, 'ssh_config');
  }

  /** Needs root, to be another user. */
  static async start(): Promise<SftpServer> {
    const folder = await mkdtemp(join(tmpdir(), 'lodge-sftp-'));
    const server = new SftpServer(folder, await freePort());
    try {
      await server.prepare();
      await server.up();
      return server;
    } catch (error) {
      await server.stop();
      throw error;
    }
  }

  /** The place for backups. */
  get address(): string {
    return `sftp://${user}@127.0.0.1:${this.port}/${this.files}`;
  }

  get files(): string {
    return join(this.folder, 'files');
  }

  async down(): Promise<void> {
    const { child } = this;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  }

  async stop(): Promise<void> {
    await this.down();
    await rm(this.folder, { recursive: true, force: true });
  }

  private async prepare(): Promise<void> {
    const { folder, port, files } = this;
    const [uid, gid] = ['-u', '-g'].map((which) => Number(execFileSync('id', [which, user])));
    await chmod(folder, 0o711);
    await mkdir(files);
    await chown(files, uid!, gid!);
    const [host, client] = [join(folder, 'host'), join(folder, 'client')];
    for (const key of [host, client]) await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
    await chown(host, uid!, gid!);
    const options = [
      `Port ${port}`,
      'ListenAddress 127.0.0.1',
      `HostKey ${host}`,
      `AuthorizedKeysFile ${client}.pub`,
      'StrictModes no',
      'UsePAM no',
      'PasswordAuthentication no',
      'KbdInteractiveAuthentication no',
      'PidFile none',
      'Subsystem sftp internal-sftp',
      'ForceCommand internal-sftp',
    ];
    await writeFile(join(folder, 'sshd_config'), `${options.join('\n')}\n`);
    await writeFile(join(folder, 'known'), `[127.0.0.1]:${port} ${await readFile(`${host}.pub`, 'utf8')}`);
    const known = ['Host *', `IdentityFile ${client}`, 'IdentitiesOnly yes', `UserKnownHostsFile ${folder}/known`];
    await writeFile(this.sshConfig, `${known.join('\n')}\n`);
  }

  private async up(): Promise<void> {
    const as = ['--reuid', user, '--regid', user, '--clear-groups', '--pdeathsig', 'KILL'];
    const line = [...as, '/usr/sbin/sshd', '-D', '-e', '-f', join(this.folder, 'sshd_config')];
    this.child = spawn('setpriv', line, { stdio: 'ignore' });
    const deadline = Date.now() + startMs;
    while (!(await answers(this.port))) {
      if (this.child.exitCode !== null || Date.now() > deadline) throw new Error('sshd did not start');
      await sleep(50);
    }
  }
}

async function answers(port: number): Promise<boolean> {
  const socket = connect({ port, host: '127.0.0.1' });
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  }).finally(() => socket.destroy()) as Promise<boolean>;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await once(server.close(), 'close');
  return port;
}
