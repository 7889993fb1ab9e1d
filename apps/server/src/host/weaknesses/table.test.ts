/** Each check against a host with exactly that weakness, and one without: the kernel's files lie in a folder of the test. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { readConfig } from '../../config/config.ts';
import type { HostFacts } from './check.ts';
import { hostFacts, lookAtHost, reportWeaknesses } from './table.ts';
import { sharedDomain } from './web.ts';

const folder = await mkdtemp(join(tmpdir(), 'lodge-weak-'));
after(() => rm(folder, { recursive: true }));
const dataDir = join(folder, 'data');
await mkdir(dataDir, { mode: 0o711 });

const strong: Readonly<Record<string, string>> = {
  '/dev/kvm': '',
  '/sys/fs/cgroup/cgroup.controllers': 'cpuset cpu io memory pids\n',
  '/proc/swaps': 'Filename Type Size Used Priority\n/dev/zram0 partition 1 0 5\n',
  '/proc/sys/net/netfilter/nf_conntrack_max': '262144\n',
  '/sys/devices/system/cpu/vulnerabilities/meltdown': 'Not affected\n',
  '/sys/devices/system/cpu/vulnerabilities/spectre_v1': 'Mitigation: usercopy/swapgs barriers\n',
  '/sys/devices/system/cpu/vulnerabilities/srbds': 'Unknown: Dependent on hypervisor status\n',
};
let hosts = 0;

/** Names and states of the findings that are not `ok` on a host of these files, with these settings. */
async function weak(
  files: Readonly<Record<string, string | null>> = {},
  env: Readonly<Record<string, string>> = {},
  given: Partial<HostFacts> = {},
  prepare: (root: string) => Promise<void> = async () => undefined,
): Promise<Record<string, string>> {
  const root = join(folder, `host-${(hosts += 1)}`);
  for (const [path, text] of Object.entries({ ...strong, ...files })) {
    if (text === null) continue;
    await mkdir(join(root, dirname(path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  await prepare(root);
  const config = readConfig({ LODGE_DATA_DIR: dataDir, LODGE_CACHE_DIR: dataDir, ...env });
  const emulator = { version: 'QEMU 10.0', mapsReadOnly: true };
  const usual = { people: 2, emulator, accelerator: 'kvm', guests: 24, clockIsSet: true } as const;
  const facts: HostFacts = { config, root, ...usual, ...given };
  const findings = await lookAtHost(facts);
  for (const { state, detail, advice } of findings) {
    assert.ok(detail !== '' && (state === 'ok' || state === 'note' || advice), 'a weakness says what to do');
  }
  const left = findings.filter(({ name, state }) => !['disk', 'user'].includes(name) && /warn|fail/.test(state));
  return Object.fromEntries(left.map(({ name, state }) => [name, state]));
}

test('a host with nothing weak has no weakness', async () => {
  assert.deepEqual(await weak(), {});
  const https = { LODGE_PUBLIC_URL: 'https://lodge.example.com', LODGE_TRUSTED_PROXIES: '127.0.0.1' };
  assert.deepEqual(await weak({}, { ...https, LODGE_AGENTS_DOMAIN: 'agents.example.net' }), {});
});

test('a service that runs what is another user’s, or whose settings others read, is found', async () => {
  const unit = 'WorkingDirectory=/opt/lodge\nEnvironment=PATH=/opt/npm:/usr/bin\n';
  const files = {
    '/etc/systemd/system/lodge.service': unit,
    '/opt/lodge/scripts/start.sh': '',
    '/opt/lodge/apps/x/main.ts': '',
    '/opt/lodge/packages/x/index.ts': '',
    '/opt/packages/node/bin/node': '',
    '/home/eve/x': '',
    '/opt/npm/npm': '',
    '/usr/bin/x': '',
    '/etc/lodge.env': '',
  };
  const on = async (prepare: (root: string) => Promise<void>): Promise<Record<string, string>> =>
    weak(files, {}, {}, prepare);
  const closed = (root: string): Promise<void> => chmod(join(root, 'etc/lodge.env'), 0o600);
  assert.deepEqual(await on(closed), {});
  assert.deepEqual(await on((root) => chmod(join(root, 'etc/lodge.env'), 0o640)), { 'service settings': 'fail' });
  /** The links that npm makes: to programs and to packages, one of them over another link. */
  const linked = async (root: string, by = '../../packages/node'): Promise<void> => {
    await closed(root);
    const modules = join(root, 'opt/lodge/node_modules');
    await mkdir(join(modules, '.bin'), { recursive: true });
    await symlink('../../packages/node/bin/node', join(root, 'opt/lodge/packages/node'));
    await symlink('../../packages/x', join(modules, 'x'));
    await symlink(by, join(modules, '.bin/node'));
    await symlink('nowhere', join(modules, '.bin/gone'));
  };
  assert.deepEqual(await on(linked), {});
  const others = [
    'opt/lodge',
    'opt/lodge/scripts/start.sh',
    'opt/lodge/apps',
    'opt/lodge/node_modules/.bin',
    'opt/npm',
  ];
  const behindLinks = ['opt/packages', 'opt/packages/node/bin/node', 'opt'];
  for (const folder of [...others, ...behindLinks]) {
    const given = async (root: string): Promise<void> => {
      await linked(root);
      await chown(join(root, folder), 1000, 1000);
    };
    assert.deepEqual(await on(given), { service: 'warn' }, folder);
  }
  const written = async (root: string): Promise<void> => {
    await closed(root);
    await chmod(join(root, 'opt/lodge'), 0o775);
  };
  assert.deepEqual(await on(written), { service: 'warn' });
  const overForeignFolder = async (root: string): Promise<void> => {
    await linked(root, '../../../../home/eve/node');
    await symlink('../../opt/packages/node/bin/node', join(root, 'home/eve/node'));
    await chown(join(root, 'home/eve'), 1000, 1000);
  };
  assert.deepEqual(await on(overForeignFolder), { service: 'warn' }, 'who may change a link on the way');
});

test('each weakness of the machine is found', async () => {
  const legacy = { '/sys/fs/cgroup/cgroup.controllers': null, '/sys/fs/cgroup/memory/cgroup.procs': '' };
  const withPids = { ...legacy, '/sys/fs/cgroup/pids/cgroup.procs': '' };
  const old = { emulator: { version: 'QEMU 7.2', mapsReadOnly: false } };
  const swapped = `Filename Type Size Used Priority\n/dev/sda2 partition 1 0 -2\n`;
  const [emulated, untried] = [{ accelerator: 'tcg' }, { accelerator: null }] as const;
  assert.deepEqual(await weak({ '/dev/kvm': null }, {}, emulated), { KVM: 'warn' });
  assert.deepEqual(await weak({}, {}, emulated), { KVM: 'warn' }, 'no guest boots on what is there');
  assert.deepEqual(await weak({}, {}, untried), {});
  const flaws = '/sys/devices/system/cpu/vulnerabilities';
  for (const state of ['Mitigation: PTE Inversion; VMX: SMT vulnerable\n', 'KVM: Vulnerable\n']) {
    assert.deepEqual(await weak({ [`${flaws}/l1tf`]: state }), { processor: 'warn' });
    assert.deepEqual(await weak({ [`${flaws}/l1tf`]: state }, {}, emulated), { KVM: 'warn' }, 'of a real one alone');
  }
  assert.deepEqual(await weak({ '/sys/fs/cgroup/cgroup.controllers': 'cpu io\n' }), {
    'memory controller': 'warn',
    'pids controller': 'warn',
  });
  assert.deepEqual(await weak({ '/sys/fs/cgroup/cgroup.controllers': 'cpu memory\n' }), { 'pids controller': 'warn' });
  assert.deepEqual(await weak(withPids), { 'cpu controller': 'warn', 'control groups': 'warn' });
  assert.deepEqual(await weak({ '/proc/swaps': swapped }), { swap: 'warn' });
  assert.deepEqual(await weak({ '/proc/sys/net/netfilter/nf_conntrack_max': '16384\n' }), {
    'connection table': 'warn',
  });
  const table = { '/proc/sys/net/netfilter/nf_conntrack_max': '262144\n' };
  assert.deepEqual(
    await weak(table, {}, { guests: 60 }),
    { 'connection table': 'warn' },
    'by the guests that it is shared by',
  );
  assert.deepEqual(await weak({ '/proc/sys/net/netfilter/nf_conntrack_max': null }), {}, 'it is not loaded');
  assert.deepEqual(await weak({}, {}, { clockIsSet: false }), { clock: 'warn' });
  assert.deepEqual(await weak({}, {}, { clockIsSet: null }), {}, 'nothing tells of it');
  assert.deepEqual(await weak({}, {}, old), { QEMU: 'warn' });
  assert.deepEqual(await weak({}, {}, { ...old, people: 1 }), {}, 'nobody else is on the host');
  const open = { LODGE_REGISTRATION: 'open' };
  assert.deepEqual(await weak({}, open, { ...old, people: 1 }), { QEMU: 'warn', registration: 'warn' });
});

test('each weakness of how Lodge is reached is found', async () => {
  const proxied = { LODGE_TRUSTED_PROXIES: '127.0.0.1' };
  const cases: readonly (readonly [Record<string, string>, readonly string[]])[] = [
    [{ ...proxied, LODGE_PUBLIC_URL: 'http://lodge.lan', LODGE_AGENTS_DOMAIN: 'agents.example.net' }, ['transport']],
    [{ LODGE_AGENTS_DOMAIN: 'agents.lan' }, ['transport']],
    [{ LODGE_HOST: '0.0.0.0' }, ['transport']],
    [{ ...proxied, LODGE_PUBLIC_URL: 'http://127.0.0.1:8080' }, []],
    [
      { ...proxied, LODGE_PUBLIC_URL: 'https://lodge.example.com', LODGE_AGENTS_DOMAIN: 'agents.example.com' },
      ["agents' domain"],
    ],
    [{ LODGE_PUBLIC_URL: 'https://lodge.example.com', LODGE_AGENTS_DOMAIN: 'agents.example.net' }, ['proxies']],
    [{ LODGE_TRUSTED_PROXIES: '10.0.0.1, 0.0.0.0/0' }, ['proxies']],
    [{ LODGE_METRICS_PORT: '9464', LODGE_METRICS_HOST: '0.0.0.0' }, ['metrics']],
    [{ LODGE_METRICS_PORT: '9464' }, []],
    [{ DATABASE_URL: 'postgres://a:b@db.example.com/lodge' }, ['database']],
    [{ DATABASE_URL: 'postgres://a:b@db.example.com/lodge?sslmode=verify-full' }, []],
    [{ DATABASE_URL: 'postgres://a:b@localhost/lodge' }, []],
    [{ DATABASE_URL: 'postgres:///lodge?host=/run/postgresql' }, []],
    [{ LODGE_EGRESS_MAIL: 'open' }, ['mail']],
    [{ LODGE_NETWORK_MBIT: '0' }, ['bandwidth']],
    [{ LODGE_DISK_RATE: '0' }, ['disk rate']],
    [{ LODGE_MASTER_KEY: Buffer.alloc(32).toString('base64') }, ['master key']],
  ];
  for (const [env, names] of cases) assert.deepEqual(Object.keys(await weak({}, env)), names, JSON.stringify(env));
});

test('what the settings leave of the real disk is told', async () => {
  const cases: readonly (readonly [Record<string, string>, RegExp])[] = [
    [{ LODGE_DISK_FLOOR_MIB: '1048576' }, /below LODGE_DISK_FLOOR_MIB \(1024\.0 GiB\): agents that write are paused/],
    [{ LODGE_DISK_FLOOR_MIB: '64', LODGE_DISK_RESERVED_MIB: '1048576' }, /no room for an agent/],
    [{ LODGE_DISK_FLOOR_MIB: '64', LODGE_DISK_OVERCOMMIT: '64' }, /LODGE_DISK_FLOOR_MIB is 64: writers can fill/],
  ];
  for (const [env, wanted] of cases) {
    const config = readConfig({ LODGE_DATA_DIR: dataDir, LODGE_CACHE_DIR: dataDir, ...env });
    const findings = await lookAtHost(await hostFacts(config, 1));
    const { state, detail } = findings.find(({ name }) => name === 'disk')!;
    assert.equal(state, 'warn');
    assert.match(detail, wanted);
  }
});

test('names share a domain where somebody could own it', () => {
  assert.equal(sharedDomain('lodge.example.com', 'agents.example.com'), 'example.com');
  assert.equal(sharedDomain('example.com', 'agents.example.com'), 'example.com');
  for (const [one, other] of [
    ['lodge.example.com', 'example.net'],
    ['lodge.com', 'agents.com'],
    ['a.co.uk', 'b.co.uk'],
  ] as const) {
    assert.equal(sharedDomain(one, other), null);
  }
});

test('a master key that others can read or replace fails', async () => {
  const own = join(folder, 'own');
  await mkdir(own, { mode: 0o755 });
  const file = join(own, 'key');
  await writeFile(file, Buffer.alloc(32), { mode: 0o600 });
  const env = { LODGE_MASTER_KEY_FILE: file };
  assert.deepEqual(await weak({}, env), {});
  await chmod(file, 0o640);
  assert.deepEqual(await weak({}, env), { 'master key': 'fail' });
  await chmod(file, 0o600);
  await chmod(own, 0o777);
  assert.deepEqual(await weak({}, env), { 'master key': 'fail' });
  assert.deepEqual(await weak({}, { LODGE_MASTER_KEY_FILE: join(folder, 'none') }), {}, 'the first start makes it');
});

test('a start logs each weakness with a line of its own, also where the database does not answer', async () => {
  const lines: string[] = [];
  const log = { debug() {}, info() {}, warn: (_fields: object, text: string) => lines.push(text), error() {} };
  const config = readConfig({
    LODGE_DATA_DIR: dataDir,
    LODGE_REGISTRATION: 'open',
    LODGE_PUBLIC_URL: 'http://lodge.lan',
  });
  const found = await reportWeaknesses(config, () => Promise.reject(new Error('away')), log);
  for (const name of ['transport', 'registration']) {
    assert.ok(found.some((finding) => finding.name === name));
    assert.equal(lines.filter((line) => line.startsWith(`${name}: `)).length, 1);
  }
  assert.equal(lines.length, found.length);
});

test('doctor says as root and as anybody else what is weak, and what it could not see', () => {
  const main = join(import.meta.dirname, '../../cli/main.ts');
  const env = {
    PATH: process.env['PATH'],
    LODGE_DATA_DIR: dataDir,
    LODGE_CACHE_DIR: dataDir,
    LODGE_PUBLIC_URL: 'http://lodge.lan',
  };
  const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  for (const user of [{}, nobody]) {
    const { stdout, stderr, status } = spawnSync(process.execPath, [main, 'doctor', '--json'], {
      env,
      encoding: 'utf8',
      ...user,
    });
    assert.ok(status === 0 || status === 1, stderr);
    const { ok, sections } = JSON.parse(stdout);
    assert.equal(ok, status === 0);
    const all = sections.flatMap(
      ({ findings }: { findings: { name: string; state: string; detail: string }[] }) => findings,
    );
    const stateOf = (name: string): string => all.find((finding: { name: string }) => finding.name === name)?.state;
    assert.equal(stateOf('transport'), 'warn');
    assert.equal(stateOf('user'), 'uid' in user || process.getuid?.() !== 0 ? 'note' : 'ok');
  }
});
