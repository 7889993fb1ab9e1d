/**
 * Backups beside a Lodge that runs real machines, and their restore elsewhere: another data folder, another cache, another
 * database and another name, on the same machine. The guarantees: what agents had is back, snapshots and memory of stopped ones
 * included;
 * a machine goes on however its backup ends; and one agent comes back into a Lodge that runs, beside the one that it was.
 * Troubles of places and files are in `backup-places.test.ts` and `backup-kills.test.ts`, without machines.
 */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { createHash, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { access, chmod, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { restOf } from '@lodge/ports';
import { guestClientOf } from '@lodge/testkit/guest';
import { Service } from '@lodge/testkit/service';

const run = promisify(execFile);
const cli = new URL('../../apps/server/src/cli/main.ts', import.meta.url).pathname;
const entry = new URL('./lodge-with-bare-guests.ts', import.meta.url);
const minuteMs = 60_000;
const inMemory = '/dev/shm/thought';
const file = '/workspace/plan.txt';

let service: Service;
let place: string;
let folder: string;
let keyFile: string;
let asleep: string;
let moved: string;
let awake: string;
const snapshots: string[] = [];

before(
  async () => {
    place = await mkdtemp(join(tmpdir(), 'lodge-backup-'));
    await chmod(place, 0o711);
    folder = join(place, 'backups');
    keyFile = join(place, 'apart', 'master.key');
    service = await Service.start({ entry });
    await service.awaitTemplate(10 * minuteMs);
    asleep = await makeAgent('Asleep');
    moved = await makeAgent('Moved');
    awake = await makeAgent('Awake');
    for (const id of [asleep, moved, awake]) {
      const guest = await guestClientOf(service.dataDir, id);
      await guest.writeFile(file, `of ${id}`, { mode: 0o640, owner: 'agent' });
      await guest.writeFile(inMemory, 'half', { mode: 0o644, owner: 'root' });
    }
    for (const id of [asleep, moved]) {
      const { body } = await service.call('POST', `/agents/${id}/stop`);
      assert.equal(body.status, 'stopped', JSON.stringify(body));
    }
    // The disks are chains of layers from here on, and layers have names in several folders.
    for (const id of [awake, asleep]) snapshots.push(await snapshotOf(id));
  },
  { timeout: 15 * minuteMs },
);
after(async () => {
  await service?.destroy();
  await rm(place, { recursive: true, force: true });
});

async function snapshotOf(id: string): Promise<string> {
  const { status, body } = await service.call('POST', `/agents/${id}/snapshots`, { name: 'kept' });
  assert.equal(status, 201, JSON.stringify(body));
  assert.equal(body.status, 'ready', JSON.stringify(body));
  return body.id as string;
}

async function makeAgent(name: string): Promise<string> {
  const { status, body } = await service.call('POST', '/agents', {
    name,
    size: 'small',
    lifecycle: { idle_timeout_seconds: 0 },
  });
  assert.equal(status, 201, JSON.stringify(body));
  return body.id as string;
}

interface Said {
  readonly code: number;
  readonly text: string;
}

async function lodge(env: NodeJS.ProcessEnv, ...args: string[]): Promise<Said> {
  return run(process.execPath, [cli, ...args], { env }).then(
    ({ stdout }) => ({ code: 0, text: stdout }),
    (error: { code: number; stdout: string; stderr: string }) => ({
      code: error.code,
      text: error.stdout + error.stderr,
    }),
  );
}

const backup = (...more: string[]): Promise<Said> => lodge(service.env, 'backup', folder, ...more);
const instance = `b${randomInt(36 ** 4).toString(36)}`;

/** The environment of a Lodge that does not exist yet. */
function elsewhere(name: string): { env: NodeJS.ProcessEnv; dataDir: string; cacheDir: string } {
  const [dataDir, cacheDir] = [join(place, name), join(place, `${name}-cache`)];
  const env = { ...process.env, LODGE_DATA_DIR: dataDir, LODGE_CACHE_DIR: cacheDir, LODGE_INSTANCE: instance };
  return { env, dataDir, cacheDir };
}

const backups = async (of: string): Promise<string[]> =>
  (await lodge(service.env, 'backup', 'list', of)).text.split('\n').filter((line) => /^\d{4}-/.test(line));

async function stateOfEmulator(): Promise<string> {
  const record = JSON.parse(await readFile(join(service.dataDir, 'vms', awake, 'vm.json'), 'utf8')) as {
    process: { pid: number };
  };
  const text = await readFile(`/proc/${record.process.pid}/stat`, 'latin1');
  return text.slice(text.lastIndexOf(')') + 2)[0]!;
}

test(
  'a backup beside agents that run is whole, and the next one writes little',
  { timeout: 10 * minuteMs },
  async (t) => {
    const began = performance.now();
    const first = await backup('--with-key', keyFile);
    assert.equal(first.code, 0, first.text);
    t.diagnostic(`first: ${Math.round(performance.now() - began)} ms; ${first.text}`);
    assert.match(first.text, /3 agents/);
    assert.match(first.text, new RegExp(`agent ${awake}: ran, stood still for \\d+ ms`));
    assert.match(first.text, new RegExp(`agent ${asleep}: as it lies`));
    assert.ok(first.text.includes(join(service.dataDir, 'master.key')), first.text);
    const key = await readFile(join(service.dataDir, 'master.key'));
    assert.deepEqual(await readFile(keyFile), key);
    assert.equal((await stat(keyFile)).mode & 0o777, 0o600);
    await assertSealed(key);
    assert.equal((await service.call('GET', `/agents/${awake}`)).body.status, 'running');
    const guest = await guestClientOf(service.dataDir, awake);
    assert.equal(Buffer.from(await guest.readFile(inMemory)).toString(), 'half', 'it goes on');
    await guest.writeFile(file, 'changed since', { mode: 0o640, owner: 'agent' });
    const then = performance.now();
    const second = await backup();
    assert.equal(second.code, 0, second.text);
    t.diagnostic(`second: ${Math.round(performance.now() - then)} ms; ${second.text}`);
    assert.equal((await backups(folder)).length, 2);
    const third = await backup('--keep', '1');
    assert.match(third.text, /Removed 2 older/, third.text);
    assert.equal((await backups(folder)).length, 1);
  },
);

test(
  'a backup that is killed leaves none, its agent goes on, and the next is whole',
  { timeout: 10 * minuteMs },
  async () => {
    const other = join(place, 'killed');
    const child = spawn(process.execPath, [cli, 'backup', other], { env: service.env, stdio: 'ignore' });
    const staged = join(service.dataDir, 'backup-copies', awake, 'disk.qcow2');
    const isThere = (): Promise<boolean> =>
      access(staged).then(
        () => true,
        () => false,
      );
    while (child.exitCode === null && !(await isThere())) await sleep(1);
    assert.equal(child.exitCode, null, 'it ended too early to be killed');
    child.kill('SIGKILL');
    await once(child, 'exit');
    assert.deepEqual(await backups(other), []);
    const deadline = Date.now() + minuteMs;
    while ((await stateOfEmulator()) === 'T') assert.ok(Date.now() < deadline, 'the machine stands still for good');
    const { env, dataDir } = elsewhere('nothing');
    const said = await lodge(env, 'restore', other, '--key', keyFile);
    assert.equal(said.code, 1);
    assert.match(said.text, /no whole backup/);
    await assert.rejects(access(dataDir));
    const next = await lodge(service.env, 'backup', other);
    assert.equal(next.code, 0, next.text);
    assert.equal((await backups(other)).length, 1);
    assert.ok(!(await isThere()), 'the copy is gone');
  },
);

/** Nothing in the backups' folder tells what is in them, names and the key least of all. */
async function assertSealed(key: Buffer): Promise<void> {
  const secrets = [
    key,
    key.toString('hex'),
    key.toString('base64'),
    service.apiKey,
    asleep,
    awake,
    'schema_migrations',
  ];
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  for (const { parentPath, name } of files) {
    const bytes = await readFile(join(parentPath, name));
    for (const secret of secrets) assert.equal(bytes.includes(secret), false, `${name} in the clear`);
  }
}

test(
  'an agent comes back into the Lodge that runs, beside the one that it was',
  { timeout: 15 * minuteMs },
  async () => {
    const said = await lodge(service.env, 'restore', folder, '--agent', awake);
    assert.equal(said.code, 0, said.text);
    const id = /is the agent ([a-z0-9]{12}) now/.exec(said.text)?.[1] ?? assert.fail(said.text);
    assert.equal((await service.call('GET', `/agents/${id}`)).body.status, 'stopped');
    const { body } = await service.call('POST', `/agents/${id}/start`);
    assert.equal(body.status, 'running', JSON.stringify(body));
    const [fresh, old] = await Promise.all([id, awake].map((each) => guestClientOf(service.dataDir, each)));
    assert.equal(Buffer.from(await fresh!.readFile(file)).toString(), 'changed since');
    await fresh!.writeFile(file, 'of the new one', { mode: 0o640, owner: 'agent' });
    assert.equal(Buffer.from(await old!.readFile(file)).toString(), 'changed since');
    assert.equal((await service.call('DELETE', `/agents/${id}`)).status, 200);
  },
);

test(
  'agents come back in another data folder, with their files and the memory of the stopped one',
  { timeout: 20 * minuteMs },
  async (t) => {
    const { env, dataDir, cacheDir } = elsewhere('other');
    const began = performance.now();
    const said = await lodge(env, 'restore', folder, '--key', keyFile);
    assert.equal(said.code, 0, said.text);
    t.diagnostic(`restore: ${Math.round(performance.now() - began)} ms; ${said.text}`);
    assert.equal((await stat(join(dataDir, 'master.key'))).mode & 0o777, 0o600);
    assert.equal((await readdir(join(dataDir, 'templates'))).length, 1, 'all disks lie over the one template');
    assert.match((await lodge(env, 'restore', folder)).text, /is not empty/);
    await saveElsewhere(dataDir, moved);
    const { apiKey } = service;
    await service.destroy();
    service = await Service.start({ entry, dataDir, env: { LODGE_CACHE_DIR: cacheDir, LODGE_INSTANCE: instance } });
    service.apiKey = apiKey;
    for (const id of [asleep, moved]) {
      const { body } = await service.call('POST', `/agents/${id}/start`);
      assert.equal(body.status, 'running', JSON.stringify(body));
      const guest = await guestClientOf(dataDir, id);
      assert.equal(Buffer.from(await guest.readFile(file)).toString(), `of ${id}`);
      if (id === moved) {
        await assert.rejects(guest.readFile(inMemory), 'its snapshot fits no more: it was booted');
        const { data } = (await service.call('GET', `/agents/${id}/logs`)).body as { data: { message: string }[] };
        const said = data.map(({ message }) => message).join('\n');
        assert.match(said, /was saved on a host with another processor or emulator .* started from its disk instead/);
        assert.match(service.output, /saved by QEMU of another host \(kvm\), and this host has QEMU emulator/);
      } else assert.equal(Buffer.from(await guest.readFile(inMemory)).toString(), 'half', 'it was not booted');
    }
    const deadline = Date.now() + 8 * minuteMs;
    while ((await service.call('GET', `/agents/${awake}`)).body.status !== 'running') {
      assert.ok(Date.now() < deadline, service.output.slice(-4_000));
      await sleep(500);
    }
    const { body } = await service.call('GET', `/agents/${awake}`);
    assert.notEqual(body.status_reason?.code, 'vm_crashed');
    const guest = await guestClientOf(dataDir, awake);
    assert.equal(Buffer.from(await guest.readFile(file)).toString(), 'changed since');
    await assert.rejects(guest.readFile(inMemory), 'it was booted');
    for (const id of snapshots) {
      assert.equal((await service.call('GET', `/snapshots/${id}`)).body.status, 'ready');
      const files = await readdir(join(dataDir, 'saved', id));
      const layer = files.find((name) => name.startsWith('disk-')) ?? assert.fail(files.join());
      assert.ok((await stat(join(dataDir, 'saved', id, layer))).size > 0);
    }
  },
);

/** As on a host whose emulator or processor is another one: the machine at rest names what its devices' state belongs to. */
async function saveElsewhere(dataDir: string, id: string): Promise<void> {
  const path = join(dataDir, 'saved', restOf(id), 'manifest');
  const text = await readFile(path, 'utf8');
  const manifest = JSON.parse(text.slice(text.indexOf('\n') + 1)) as { readonly memory: Record<string, unknown> };
  assert.equal(typeof manifest.memory['stateKey'], 'string');
  const savedOn = { madeWith: 'QEMU of another host (kvm)', processor: null };
  const json = JSON.stringify({ ...manifest, memory: { ...manifest.memory, stateKey: 'of another host', savedOn } });
  await writeFile(path, `${createHash('sha256').update(json).digest('hex')}\n${json}`);
}
