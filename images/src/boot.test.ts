/** Tests the base image in a real virtual machine (emulated without KVM), with the host's protocol. */
import assert from 'node:assert/strict';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { after, before, test } from 'node:test';
import {
  dialTo,
  credentialDigest,
  credentialParameter,
  guestClient,
  GuestError,
  newCredential,
  noCredential,
  type Dial,
  type GuestClient,
} from '@lodge/guest';
import { guestProcessor } from '@lodge/ports';
import { notRoot, sharedBuilder } from './testing.ts';

const emulated = {
  x64: {
    emulator: 'qemu-system-x86_64',
    machine: 'q35',
    processor: 'max,erms=off,fsrm=off',
    console: 'ttyS0 no_timer_check tsc=reliable',
  },
  arm64: { emulator: 'qemu-system-aarch64', machine: 'virt', processor: 'max', console: 'ttyAMA0' },
}[guestProcessor];

let folder = '';
let qemu: ChildProcess | null = null;
let guest: GuestClient;
let at: { readonly dial: Dial; readonly port: number };
const credential = newCredential();
const bootMs = 120_000;

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Boots the image. QEMU's user network has our guests' addresses, and its connections come from 10.0.2.2. */
async function boot(): Promise<void> {
  const image = await sharedBuilder().ensure('base', () => undefined, new AbortController().signal);
  const disk = join(folder, 'disk.qcow2');
  const create = ['create', '-q', '-f', 'qcow2', '-b', image.rootDisk, '-F', 'qcow2', disk];
  assert.equal(spawnSync('qemu-img', create).status, 0);
  const port = await freePort();
  const size = ['-cpu', emulated.processor, '-smp', '2', '-m', '1024'];
  const machine = ['-machine', emulated.machine, '-accel', 'tcg,thread=multi', ...size];
  const plain = ['-nodefaults', '-no-user-config', '-display', 'none', '-serial', `file:${join(folder, 'console')}`];
  const kernel = ['-kernel', image.kernel, '-initrd', image.initrd];
  const known = `${credentialParameter}=${credentialDigest(credential)}`;
  const append = `console=${emulated.console} quiet rw mitigations=off ${known}`;
  const drive = ['-drive', `if=none,id=d0,file=${disk},format=qcow2`, '-device', 'virtio-blk-pci,drive=d0'];
  const netdev = `user,id=n0,restrict=on,hostfwd=tcp:127.0.0.1:${port}-10.0.2.15:8080`;
  const network = ['-netdev', netdev, '-device', 'virtio-net-pci,netdev=n0', '-device', 'virtio-rng-pci'];
  const argv = [...machine, ...plain, ...kernel, '-append', append, ...drive, ...network];
  qemu = spawn(emulated.emulator, argv, { stdio: ['ignore', 'ignore', openSync(join(folder, 'qemu'), 'w')] });
  at = { dial: dialTo('127.0.0.1'), port };
  guest = guestClient({ ...at, credential: () => Promise.resolve(credential) });
  await guest.awaitHealth({ timeoutMs: bootMs });
}

before(async () => {
  folder = mkdtempSync('/tmp/lodge-boot-');
  if (notRoot === false) await boot();
});
after(async () => {
  if (qemu !== null && qemu.exitCode === null && qemu.signalCode === null) {
    qemu.kill('SIGKILL');
    await once(qemu, 'exit');
  }
  rmSync(folder, { recursive: true });
});

const console_ = (): string => readFileSync(join(folder, 'console'), 'utf8').trim();

async function sh(script: string, user: 'agent' | 'root' = 'agent'): Promise<string> {
  const result = await guest.exec({ argv: ['sh', '-c', script], user, timeoutMs: 60_000 });
  assert.equal(result.exitCode, 0, `${script}: ${result.stderr}`);
  return result.stdout.trim();
}

test('the guest boots to a daemon that answers, with a silent console', { skip: notRoot }, async () => {
  const health = await guest.health();
  assert.equal(health.cpusOnline, 2);
  assert.ok(health.memoryTotalMib > 900 && health.memoryTotalMib <= 1024);
  assert.equal(console_(), '');
});

test('commands run as the agent, in the workspace, and cannot reach the daemon', { skip: notRoot }, async () => {
  assert.equal(
    await sh('id -u; pwd; echo $HOME; touch file; node --version'),
    '1000\n/workspace\n/home/agent\nv24.21.0',
  );
  assert.equal(await sh('id -u', 'root'), '0');
  const connect = `fetch('http://10.0.2.15:8080/v1/health').then(() => 'served', () => 'refused').then(console.log)`;
  assert.equal(await sh(`node -e "${connect}"`), 'refused');
  assert.equal(await sh(`node -e "${connect}"`, 'root'), 'refused');
  assert.equal(await sh('cat /proc/self/oom_score_adj'), '0', 'a command may be killed for memory, the daemon is not');
});

test('a guest that was booted knows the host by its credential from the first call on', { skip: notRoot }, async () => {
  const stranger = guestClient({ ...at, credential: noCredential });
  const refused = (error: unknown) => error instanceof GuestError && error.status === 401;
  await assert.rejects(stranger.health(), refused);
  await assert.rejects(stranger.setClock({ claim: newCredential() }), refused);
  const guessing = guestClient({ ...at, credential: () => Promise.resolve(newCredential()) });
  await assert.rejects(guessing.exec({ argv: ['id'], user: 'root', timeoutMs: 1_000 }), refused);
  assert.match(await sh('cat /proc/cmdline'), new RegExp(credentialDigest(credential)), 'which opens nothing');
  assert.equal(
    await sh(`grep -rlF ${credential} /proc/cmdline /proc/1/environ /run /var/log /etc || true`, 'root'),
    '',
  );
});

test('the network is the one every guest has, without IPv6', { skip: notRoot }, async () => {
  assert.match(await sh('ip -4 -brief address show eth0'), /^eth0\s+UP\s+10\.0\.2\.15\/24\s*$/);
  assert.equal(await sh('ip -6 address; ip -6 route'), '');
  assert.match(
    await sh('ip route; cat /etc/resolv.conf'),
    /^default via 10\.0\.2\.2 dev eth0.*nameserver 10\.0\.2\.2$/s,
  );
});

test('the clock is set, together with a new state of the random generator', { skip: notRoot }, async () => {
  await sh('date -u -s 2001-01-01', 'root');
  await guest.setClock();
  const asked = Date.now() / 1000;
  const seconds = Number(await sh('date +%s'));
  assert.ok(seconds > asked - 10 && seconds < Date.now() / 1000 + 10, `the guest's clock says ${seconds}`);
});

test('vCPUs go off and on', { skip: notRoot }, async () => {
  await guest.setCpusOnline(1, { timeoutMs: 60_000 });
  assert.equal(await sh('nproc'), '1');
  await guest.setCpusOnline(2, { timeoutMs: 60_000 });
  assert.equal(await sh('nproc'), '2');
  await assert.rejects(guest.setCpusOnline(3, { timeoutMs: 60_000 }), /3 vCPUs were asked for and 2 are online/);
});

test('a process that takes all memory is killed alone, and counted', { skip: notRoot }, async () => {
  const earlier = await guest.health();
  assert.ok(earlier.memoryAvailableMib! > 500 && earlier.memoryAvailableMib! < earlier.memoryTotalMib);
  assert.ok(
    earlier.diskFreeMib! > 5_000 && earlier.diskFreeMib! < earlier.diskTotalMib! && earlier.diskTotalMib! < 10_240,
  );
  const greedy = await guest.exec({ argv: ['tail', '/dev/zero'], timeoutMs: 120_000 });
  assert.deepEqual([greedy.signal, greedy.timedOut], ['SIGKILL', false]);
  assert.equal((await guest.health()).oomKills, earlier.oomKills! + 1);
});

test('a full disk is told as such', { skip: notRoot }, async () => {
  await sh('mount -t tmpfs -o size=1m small /mnt', 'root');
  const writing = guest.writeFile('/mnt/file', Buffer.alloc(3_000_000), { mode: 0o644, owner: 'root' });
  await assert.rejects(writing, (error) => error instanceof GuestError && error.status === 507);
  assert.equal(await sh('ls -A /mnt; umount /mnt', 'root'), '');
});

test('a sync drops the page cache when it is told to', { skip: notRoot }, async () => {
  await sh('cat /usr/local/bin/node > /dev/null');
  const cachedMib = async (): Promise<number> =>
    Number(await sh("awk '/^Cached:/ { print int($2 / 1024) }' /proc/meminfo"));
  const earlier = await cachedMib();
  await guest.sync(true);
  assert.ok((await cachedMib()) < earlier - 30, `${earlier} MiB were cached`);
});

test('files get their owner, and the folders on the way too', { skip: notRoot }, async () => {
  await guest.writeFile('/home/agent/.config/a/b', 'text', { mode: 0o600, owner: 'agent' });
  assert.equal(
    await sh('stat -c "%U %a %n" ~/.config ~/.config/a/b'),
    'agent 755 /home/agent/.config\nagent 600 /home/agent/.config/a/b',
  );
  await guest.writeFile('/etc/lodge/mine', 'text', { mode: 0o644, owner: 'root' });
  assert.equal(await sh('stat -c "%U %a" /etc/lodge/mine'), 'root 644');
});

test('programs that want a terminal have one, and end with it', { skip: notRoot }, async () => {
  let shown = '';
  const closed = Promise.withResolvers<unknown>();
  const terminal = await guest.openTerminal(
    { columns: 100, rows: 30, term: 'xterm-256color' },
    {
      data: (chunk) => {
        shown += String(chunk);
        return true;
      },
      drained: () => undefined,
      closed: closed.resolve,
    },
  );
  const shows = async (pattern: RegExp): Promise<void> => {
    for (const until = Date.now() + 60_000; !pattern.test(shown); await sleep(50)) {
      assert.ok(Date.now() < until, `${String(pattern)} in ${JSON.stringify(shown)}`);
    }
  };
  terminal.write(Buffer.from('id -un; stty size; top\r'));
  await shows(/^agent\r$/m);
  await shows(/30 100[^]*load average[^]*PID USER/);
  terminal.resize({ columns: 60, rows: 20 });
  terminal.write(Buffer.from('q'));
  // Input typed before top has ended would be lost.
  await shows(/\$ $/);
  terminal.write(Buffer.from('until [ "$(stty size)" = "20 60" ]; do sleep 0.1; done; node\r'));
  await shows(/\.help[^]*> /);
  terminal.write(Buffer.from('6 * 7 + "!"\r'));
  await shows(/42!/);
  terminal.close();
  assert.equal(await closed.promise, null);
  for (const until = Date.now() + 20_000; (await sh('ps -t pts/0 -o pid= || true')) !== ''; await sleep(100)) {
    assert.ok(Date.now() < until, 'something of the terminal still runs');
  }
});

test('the workspace is written and read, and moves as a tar', { skip: notRoot }, async () => {
  const { signal } = new AbortController();
  await guest.workspace.write('moved/file', Buffer.from('text'), {}, { signal });
  const tar = await buffer(await guest.readTree(['/workspace', '/home/agent'], { signal }));
  await guest.workspace.remove('moved', { recursive: true });
  await guest.writeTree(['/workspace', '/home/agent'], Readable.from([tar]), { signal });
  assert.equal(
    await sh('stat -c "%U %a" ~ /workspace/moved/file; cat /workspace/moved/file'),
    'agent 750\nagent 644\ntext',
  );
});

test('processes that lost their parent are reaped, and a daemon that ends comes back', { skip: notRoot }, async () => {
  await sh('for i in 1 2 3 4 5; do setsid sh -c "sleep 0.3 &"; done; sleep 2');
  assert.equal(await sh('ps -eo stat | grep -c ^Z || true'), '0');
  const command = assert.rejects(sh('echo $$ > /tmp/leader; sleep 50'), GuestError);
  while ((await sh('cat /tmp/leader 2> /dev/null || true')) === '') await sleep(50);
  await assert.rejects(sh('kill -9 $(pidof node)', 'root'), GuestError);
  await guest.awaitHealth({ timeoutMs: bootMs });
  assert.match((await guest.logs('guestd', 0, 100_000)).text, /listening[^]*listening/);
  await command;
  assert.equal(await sh('kill -0 $(cat /tmp/leader) 2> /dev/null && echo alive || echo ended'), 'ended');
});
