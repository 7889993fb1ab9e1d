/** Checks the programs that run as root on the host, and the rights of the process that parses strangers' text. */
import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { get } from 'node:https';
import { tmpdir, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { maxVms, settings } from '../../apps/server/src/config/config.ts';
import { findUser } from '../../apps/server/src/machine-host/control-user.ts';
import { guestdPort } from '@lodge/guest';
import { Service } from '@lodge/testkit/service';

const run = promisify(execFile);
const entry = new URL('../failure/lodge-with-bare-guests.ts', import.meta.url);
const cacheDir = settings.cacheDir.fallback!;
const controlUser = settings.controlUser.fallback!;
const checkout = join(import.meta.dirname, '../..');
/** Longest that a process may take to be gone after one that it lives by. */
const goneMs = 2_000;

let service: Service;
let agentId: string;
before(async () => {
  service = await Service.start({ entry, env: { ROOTS_TOKEN: 'secret', JOURNAL_STREAM: '8:1' } });
  await service.awaitTemplate(10 * 60_000);
  const { status, body } = await service.call('POST', '/agents', { name: 'Confined', size: 'small' });
  assert.equal(status, 201, JSON.stringify(body));
  agentId = body.id as string;
});
after(() => service?.destroy());

async function statusOf(pid: number): Promise<Readonly<Record<string, string>>> {
  const lines = (await readFile(`/proc/${pid}/status`, 'utf8')).trim().split('\n');
  return Object.fromEntries(lines.map((line) => line.split(/:\s*/, 2) as [string, string]));
}

const none = '0000000000000000';
const bindAlone = '0000000000000400';

/** TCP ports that a process listens on, with their addresses. */
async function listeners(pid: number): Promise<string[]> {
  const { stdout } = await run('ss', ['-Hltnp']);
  const own = stdout.split('\n').filter((line) => line.includes(`pid=${pid},`));
  return own.map((line) => line.split(/\s+/)[3]!);
}

/** The process that looks up names for guests. */
async function namesPid(brokerHost: string): Promise<number> {
  const { stdout } = await run('ss', ['-Hltnp', 'src', `${brokerHost}:4053`]);
  return Number(/pid=(\d+)/.exec(stdout)![1]);
}

/** The output of a command that runs as the control plane does. */
async function asControlPlane(...command: string[]): Promise<string> {
  const { uid, gid } = (await findUser(controlUser))!;
  const become = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--no-new-privs', '--inh-caps=-all'];
  const options = { cwd: '/', maxBuffer: 64 * 2 ** 20 };
  return run('setpriv', [...become, '--bounding-set=-all', '--', ...command], options).then(
    ({ stdout }) => stdout,
    (error: { stdout?: string }) => error.stdout ?? '',
  );
}

/** Root's record of the agent's VM. */
async function recordOf(id: string): Promise<{ readonly templateId: string; readonly address: string }> {
  const text = await readFile(join(service.dataDir, 'vms', id, 'vm.json'), 'utf8');
  return JSON.parse(text) as { readonly templateId: string; readonly address: string };
}

const begun: ChildProcess[] = [];
after(() => begun.forEach((child) => child.kill('SIGKILL')));

/** A process in the control plane's own group, as one that it has started: in a session of its own, deaf to signals. */
async function startBesideControlPlane(): Promise<number> {
  const pid = await service.controlPlanePid();
  const script = `trap '' INT TERM HUP; while :; do sleep 1; done`;
  const child = spawn('setsid', ['sh', '-c', script], { stdio: 'ignore' });
  begun.push(child);
  const groups = (await readFile(`/proc/${pid}/cgroup`, 'utf8')).matchAll(/^\d+:([\w,]*):(\/lodge-control-\w+)$/gm);
  for (const [, tree, group] of groups)
    await writeFile(join('/sys/fs/cgroup', tree!, group!, 'cgroup.procs'), String(child.pid));
  return child.pid!;
}

async function isGone(pid: number): Promise<boolean> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return text === '' || /\) [ZX] /.test(text);
}

test('the process that serves HTTP and the broker has no privileges and can get none', async () => {
  const status = await statusOf(await service.controlPlanePid());
  const { uid, gid } = (await findUser(controlUser))!;
  assert.equal(status['Uid'], Array(4).fill(uid).join('\t'));
  assert.equal(status['Gid'], Array(4).fill(gid).join('\t'));
  assert.equal(status['Groups']!.trim(), '');
  for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb']) assert.equal(status[set], none, set);
  assert.equal(status['NoNewPrivs'], '1');
});

test('it has no variable of root’s beside those that it reads', async () => {
  const environ = await readFile(`/proc/${await service.controlPlanePid()}/environ`, 'utf8');
  assert.match(environ, new RegExp(`(^|\0)LODGE_INSTANCE=${service.instance}\0`));
  assert.doesNotMatch(environ, /ROOTS_TOKEN/);
});

test('its memory, and the number of its processes, have a bound', async () => {
  const groups = await readFile(`/proc/${await service.controlPlanePid()}/cgroup`, 'utf8');
  const group = /\/lodge-control-\w+$/m.exec(groups)?.[0];
  assert.ok(group, groups);
  const bounds = ['', 'pids', 'memory'].flatMap((tree) =>
    ['pids.max', 'memory.max', 'memory.limit_in_bytes'].map((file) => join('/sys/fs/cgroup', tree, group, file)),
  );
  const found = await Promise.all(bounds.map((file) => readFile(file, 'utf8').catch(() => '')));
  assert.equal(found.filter((text) => Number(text) > 0 && Number(text) < totalmem()).length, 2);
});

test('it has no terminal, into which it could type for root', async () => {
  const pid = await service.controlPlanePid();
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // proc(5): state, parent, process group, session, terminal.
  const [, , , session, terminal] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  assert.deepEqual([session, terminal], [String(pid), '0']);
});

test('under systemd root writes its lines: the journal takes them for the service’s by who writes', async () => {
  const output = async (pid: number): Promise<string[]> =>
    Promise.all([1, 2].map((each) => readlink(`/proc/${pid}/fd/${each}`)));
  const [own, roots] = await Promise.all([output(await service.controlPlanePid()), output(service.pid)]);
  for (const file of own) assert.ok(!roots.includes(file), file);
  assert.match(service.output, /"msg":"agent running"/);
});

test('root listens on no port: guests’ look-ups of names are read by a user of their own, without privileges', async () => {
  const api = new URL(service.baseUrl).host;
  const ofControlPlane = await listeners(await service.controlPlanePid());
  assert.ok(ofControlPlane.includes(api), ofControlPlane.join(' '));
  assert.equal(ofControlPlane.filter((each) => each.endsWith(':4000')).length, 1, ofControlPlane.join(' '));
  const [brokerHost] = ofControlPlane.find((each) => each.endsWith(':4000'))!.split(':');
  assert.deepEqual(await listeners(service.pid), []);
  const names = await namesPid(brokerHost!);
  const status = await statusOf(names);
  assert.equal(
    status['Uid'],
    Array(4)
      .fill(Number(settings.vmUidBase.fallback) + maxVms)
      .join('\t'),
  );
  for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb']) assert.equal(status[set], none, set);
  assert.equal(status['NoNewPrivs'], '1');
  assert.doesNotMatch(await readFile(`/proc/${names}/environ`, 'utf8'), /LODGE|ROOTS_TOKEN/);
});

test('the control plane’s user writes nothing that root runs, opens or trusts', async () => {
  // By their names too, which a closed folder does not list.
  const { stdout: known } = await run('find', [service.dataDir, cacheDir, '!', '-type', 'l'], {
    maxBuffer: 64 * 2 ** 20,
  });
  const list = join(tmpdir(), `lodge-known-${process.pid}`);
  await writeFile(list, known);
  const byName = await asControlPlane(
    'sh',
    '-c',
    `while read -r path; do [ -w "$path" ] && echo "$path"; done <${list}`,
  );
  await rm(list);
  const inCheckout = await asControlPlane('find', checkout, '!', '-type', 'l', '-writable');
  const own = join(service.dataDir, 'control-plane');
  const writable = `${byName}\n${inCheckout}`.split('\n').filter((path) => path !== '');
  const foreign = writable.filter((path) => path !== own && !path.startsWith(`${own}/`));
  // The sockets by which it reaches the database, and has relays started.
  const relays = ['messages', 'messages.end', 'whatsapp', 'whatsapp.end'].map((name) => join('relays', name));
  const sockets = [join('postgres', 'socket', '.s.PGSQL.5432'), ...relays];
  assert.deepEqual(
    foreign.toSorted(),
    sockets.map((path) => join(service.dataDir, path)),
  );
  assert.ok(writable.includes(own), 'what is its own was found');
});

test('the control plane’s user reads no key, no agent’s disk or credential, and no template', async () => {
  const { templateId } = await recordOf(agentId);
  const templates = join(cacheDir, 'templates');
  const own = join(service.dataDir, 'templates');
  const closed = [
    join(service.dataDir, 'master.key'),
    join(service.dataDir, 'vms', agentId, 'vm.json'),
    join(service.dataDir, 'vms', agentId, 'disk.qcow2'),
    join(service.dataDir, 'postgres', 'cluster', 'PG_VERSION'),
    ...[templates, own].flatMap((folder) => [
      join(folder, templateId, 'manifest.json'),
      join(folder, templateId, 'memory'),
      join(folder, templateId, 'root.qcow2'),
    ]),
  ];
  for (const path of closed) {
    await stat(path);
    assert.equal(await asControlPlane('head', '-c', '16', path), '', path);
  }
  const secrets = await asControlPlane('find', templates, own, join(service.dataDir, 'vms'), '-type', 'f', '-readable');
  assert.equal(secrets, '');
});

test('the control plane reaches its guests; another user of the host does not', async () => {
  const { status, body } = await service.call('POST', `/agents/${agentId}/exec`, { command: 'echo reached' });
  assert.deepEqual([status, body.stdout], [200, 'reached\n'], JSON.stringify(body));
  const { address } = await recordOf(agentId);
  const connects = (uid: number, gid: number): Promise<boolean> =>
    run('timeout', ['2', 'bash', '-c', `</dev/tcp/${address}/${guestdPort}`], { uid, gid, cwd: '/' }).then(
      () => true,
      () => false,
    );
  const own = (await findUser(controlUser))!;
  assert.equal(await connects(own.uid, own.gid), true);
  assert.equal(await connects(65_534, 65_534), false);
});

test('when the control plane is killed the machine host ends, machines go on, and the next start has them', async () => {
  const host = service.pid;
  const killed = await service.controlPlanePid();
  const started = await startBesideControlPlane();
  const began = performance.now();
  process.kill(killed, 'SIGKILL');
  while (!(await isGone(host))) {
    assert.ok(performance.now() - began < 30_000, 'the machine host lives on');
    await sleep(5);
  }
  assert.ok(await isGone(started), 'what it had started is gone before root is');
  await service.end('SIGKILL');
  await service.up();
  assert.equal((await service.call('GET', `/agents/${agentId}`)).body.status, 'running');
});

test('when the machine host is killed the control plane is gone at once', async () => {
  const left = await service.controlPlanePid();
  const started = await startBesideControlPlane();
  const began = performance.now();
  await service.end('SIGKILL');
  while (!(await isGone(left))) {
    assert.ok(performance.now() - began < goneMs, `it lives ${goneMs} ms later`);
    await sleep(1);
  }
  await service.up();
  assert.ok(await isGone(started), 'what it had started is ended by the next start');
  assert.equal((await service.call('GET', `/agents/${agentId}`)).body.status, 'running');
});

test('a signal to both, as a service manager sends it, ends them in order and is told once', async () => {
  const before = service.output.length;
  const left = await service.controlPlanePid();
  process.kill(left, 'SIGINT');
  await service.end('SIGINT');
  assert.ok(await isGone(left));
  const said = service.output.slice(before);
  assert.equal(said.split('Stopping;').length, 2, said);
  assert.doesNotMatch(said, /"level":[56]0/);
  await service.up();
});

test(
  'keys and certificates are root’s to read, and a low port costs the one privilege for it',
  { timeout: 120_000 },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'lodge-tls-'));
    const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
    const subject = ['-subj', '/CN=localhost', '-days', '1', '-nodes'];
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-keyout', key, '-out', cert, ...subject], {
      stdio: 'ignore',
    });
    for (const file of [cert, key]) await chmod(file, 0o600);
    const masterKey = randomBytes(32).toString('base64');
    const port = String(700 + (process.pid % 300));
    const env = { LODGE_TLS_CERT: cert, LODGE_TLS_KEY: key, LODGE_MASTER_KEY: masterKey, LODGE_PORT: port };
    const second = await Service.start({ entry, env });
    try {
      const pid = await second.controlPlanePid();
      const status = await statusOf(pid);
      for (const set of ['CapPrm', 'CapEff', 'CapBnd', 'CapAmb']) assert.equal(status[set], bindAlone, set);
      assert.equal(status['NoNewPrivs'], '1');
      const answered = new Promise<number>((resolve, reject) => {
        const url = `${second.baseUrl}/health`;
        get(url, { rejectUnauthorized: false }, (response) => resolve(response.resume().statusCode!)).on(
          'error',
          reject,
        );
      });
      assert.ok([200, 503].includes(await answered));
      for (const each of [pid, second.pid]) {
        assert.ok(!(await readFile(`/proc/${each}/cmdline`, 'utf8')).includes(masterKey));
      }
      assert.ok(!(await readFile(`/proc/${pid}/environ`, 'utf8')).includes(masterKey));
    } finally {
      await second.destroy();
      await rm(dirname(key), { recursive: true });
    }
  },
);
