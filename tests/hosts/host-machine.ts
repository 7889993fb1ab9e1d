/**
 * A fresh machine of another distribution on this one's kernel: file system, processes, name and network are its own, with a way out
 * to this machine's network. Control groups, devices and the kernel's settings beyond those are shared, so one runs at a time.
 */
import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream, existsSync } from 'node:fs';
import { appendFile, copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Cache } from '@lodge/images/tools';
import { packages } from './distributions.ts';
import type { Distribution } from './distributions.ts';

const run = promisify(execFile);
/** Name servers beyond this machine, where its own would be at an address that only it reaches. */
const realResolver = '/run/systemd/resolve/resolv.conf';
/** The user who may sudo. */
const user = 'ops';
const link = 'lodgehost';
const network = { here: '198.18.77.1', there: '198.18.77.2', range: '198.18.77.0/24' };
/** Certificates of this machine's, for one that reaches the registries through a proxy of its own. */
const certificates = '/etc/ssl/certs/ca-certificates.crt';
const certificateVariables = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'PIP_CERT', 'REQUESTS_CA_BUNDLE'];

/** Becomes the machine's first process, whose end ends all others. A folder CHECKOUT is there under its own name. */
export const enter = `set -e
root=$1; shift
mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/run"
mount -t tmpfs tmpfs "$root/tmp"
[ -z "\${CHECKOUT:-}" ] || { mkdir -p "$root$CHECKOUT"; mount --bind "$CHECKOUT" "$root$CHECKOUT"; }
cd "$root"; pivot_root . mnt; cd /
umount -l /mnt
ip link set lo up
hostname fresh
exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 "$@"`;

export class HostMachine {
  private readonly root: string;
  private readonly log: string;
  private first: ChildProcess | null = null;

  private constructor(root: string, log: string) {
    this.root = root;
    this.log = log;
  }

  /** Makes it, from the cache if it has been made before. Its output goes to the log. */
  static async make(distribution: Distribution, cacheDir: string, log: string): Promise<HostMachine> {
    const root = await layTree(distribution, packages, cacheDir);
    const machine = new HostMachine(root, log);
    try {
      await machine.furnish();
      await connect();
      await machine.start();
      return machine;
    } catch (error) {
      await machine.remove();
      throw error;
    }
  }

  /** A path of the user's home, as this machine sees it. */
  home(...parts: string[]): string {
    return join(this.root, 'home', user, ...parts);
  }

  /** Runs a shell command as the user, in the home folder; resolves to what it printed, rejects with its end. */
  async shell(command: string, timeoutMs: number): Promise<string> {
    const inside = ['--target', String(await this.inner()), '--mount', '--pid', '--uts', '--net'];
    const child = spawn('nsenter', [...inside, 'su', '-', user, '-c', command], {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: timeoutMs,
    });
    let output = '';
    const log = createWriteStream(this.log, { flags: 'a' });
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        log.write(chunk);
        output = (output + chunk.toString()).slice(-64_000);
      });
    const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
    log.end();
    if (code !== 0) throw new Error(`${command} ended with ${code ?? signal}:\n${output.slice(-2000)}`);
    return output;
  }

  /** Ends every process of it, and takes everything away. */
  async remove(): Promise<void> {
    if (this.first?.exitCode === null && this.first.signalCode === null) {
      const gone = once(this.first, 'exit');
      this.first.kill('SIGKILL');
      await gone;
    }
    await disconnect();
    await rm(this.root, { recursive: true, force: true });
  }

  private async start(): Promise<void> {
    const apart = ['--mount', '--pid', '--fork', '--uts', '--kill-child=KILL'];
    const argv = [`--net=/run/netns/${link}`, 'unshare', ...apart, 'sh', '-c', enter, 'sh', this.root];
    this.first = spawn('nsenter', [...argv, 'sleep', 'infinity'], { stdio: ['ignore', 'ignore', 'inherit'] });
    const deadline = Date.now() + 30_000;
    while (!(await this.isUp())) {
      if (Date.now() > deadline) throw new Error('the machine did not come up within 30 s');
      await sleep(100);
    }
  }

  /** Whether its first process has become its final program. */
  private async isUp(): Promise<boolean> {
    const name = await readFile(`/proc/${await this.inner()}/comm`, 'utf8').catch(() => '');
    return name.trim() === 'sleep';
  }

  /** The process that `unshare` started; 0 before there is one. */
  private async inner(): Promise<number> {
    const pid = this.first?.pid;
    if (pid === undefined) throw new Error('the machine does not run');
    return Number(await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => ''));
  }

  private async furnish(): Promise<void> {
    await run('useradd', ['--root', this.root, '--create-home', '--shell', '/bin/bash', user]);
    await writeFile(join(this.root, 'etc/sudoers.d', user), `${user} ALL=(ALL) NOPASSWD:ALL\n`);
    await appendFile(join(this.root, 'etc/hosts'), '127.0.0.1 fresh localhost\n');
    await copyFile(existsSync(realResolver) ? realResolver : '/etc/resolv.conf', join(this.root, 'etc/resolv.conf'));
    if (!existsSync(certificates)) return;
    await copyFile(certificates, join(this.root, certificates));
    const lines = certificateVariables.map((name) => `${name}=${certificates}\n`);
    await writeFile(join(this.root, 'etc/environment'), lines.join(''));
  }
}

/** A folder with the distribution and these packages. */
export async function layTree(
  distribution: Distribution,
  include: readonly string[],
  cacheDir: string,
): Promise<string> {
  const tar = await treeOf(distribution, include, cacheDir);
  const root = await mkdtemp(join(tmpdir(), 'lodge-host-'));
  await run('tar', ['-x', '--numeric-owner', '-C', root, '-f', tar]);
  await run('chmod', ['755', root]);
  return root;
}

/** The distribution with its packages as a tar, by the hash of what was asked for. */
async function treeOf(
  { suite, components, keyring }: Distribution,
  include: readonly string[],
  cacheDir: string,
): Promise<string> {
  if (!existsSync(keyring))
    throw new Error(`${keyring} is not on this machine: ${suite} cannot be verified without it`);
  const facts = { suite, components, packages: include };
  const hash = createHash('sha256').update(JSON.stringify(facts)).digest('hex').slice(0, 16);
  const make = async (draft: string): Promise<typeof facts> => {
    const what = ['--variant=minbase', `--components=${components}`, `--include=${include.join(',')}`];
    await run('mmdebstrap', [...what, `--keyring=${keyring}`, suite, join(draft, 'root.tar')], {
      timeout: 30 * 60_000,
      maxBuffer: 64 << 20,
    });
    return facts;
  };
  const making = { shelf: 'parts', name: `host-${suite}-${hash}`, title: `a machine of ${suite}`, make } as const;
  const cache = new Cache(cacheDir);
  await cache.ensure(making, () => undefined, AbortSignal.timeout(60 * 60_000));
  return join(cache.folderOf(making), 'root.tar');
}

/** A namespace with a link to this machine, whose traffic leaves under this machine's address. */
async function connect(): Promise<void> {
  await disconnect();
  const lines = [
    `netns add ${link}`,
    `link add ${link} type veth peer name eth0 netns ${link}`,
    `address add ${network.here}/24 dev ${link}`,
    `link set ${link} up`,
    `-n ${link} address add ${network.there}/24 dev eth0`,
    `-n ${link} link set eth0 up`,
    `-n ${link} link set lo up`,
    `-n ${link} route add default via ${network.here}`,
  ];
  for (const line of lines) await run('ip', line.split(' '));
  await run('sysctl', ['-q', 'net.ipv4.ip_forward=1']);
  const chain = 'type nat hook postrouting priority srcnat;';
  await run('nft', [
    `add table ip ${link}; add chain ip ${link} out { ${chain} }; add rule ip ${link} out ip saddr ${network.range} masquerade`,
  ]);
}

/** A missing one is left alone. */
async function disconnect(): Promise<void> {
  await run('nft', ['delete', 'table', 'ip', link]).catch(() => undefined);
  await run('ip', ['link', 'delete', link]).catch(() => undefined);
  await run('ip', ['netns', 'delete', link]).catch(() => undefined);
}
