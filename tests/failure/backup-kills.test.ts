/**
 * Backups and restores that end at any moment: by kill -9, for want of room, by a bit that changed. The guarantees: what was
 * backed up before stays whole, the next backup works and clears up, no machine stands still, no process goes on, half of a
 * restore never starts, and one agent comes back beside those that are there. Without virtual machines: `resting-lodge.ts`.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, open, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { openSecretBox, readMasterKey } from '@lodge/access';
import { llmKeyContext } from '@lodge/ports';
import { readConfig } from '../../apps/server/src/config/config.ts';
import { noteLastBackup, readLastBackup } from '../../apps/server/src/host/last-backup.ts';
import { isDue, startBackupTimer } from '../../apps/server/src/machine-host/backup-timer.ts';
import { accountId, agents, llmKey, RestingLodge } from './resting-lodge.ts';

const run = promisify(execFile);
const minuteMs = 60_000;
const moments = 10;
const unfinished = 'restore-unfinished';

let lodge: RestingLodge;
let place: string;
let keyFile: string;

before(async () => {
  lodge = await RestingLodge.make();
  place = join(lodge.root, 'place');
  keyFile = join(lodge.dataDir, 'master.key');
  await timed('backup', place);
});
after(async () => {
  await run('umount', [join(lodge.root, 'full')]).catch(() => undefined);
  await lodge?.destroy();
});

async function timed(...args: string[]): Promise<number> {
  const began = performance.now();
  const { code, text } = await lodge.run(lodge.env, ...args);
  assert.equal(code, 0, text);
  return performance.now() - began;
}

/** Kills the command that long after its start. True: it had ended before. */
async function killAfter(ms: number, env: NodeJS.ProcessEnv, ...args: string[]): Promise<boolean> {
  const child = lodge.command(env, ...args);
  const ended = once(child, 'exit');
  await Promise.race([sleep(ms), ended]);
  child.kill('SIGKILL');
  await ended;
  return child.exitCode !== null;
}

async function assertQuiet(): Promise<void> {
  const deadline = Date.now() + minuteMs;
  for (;;) {
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
    const left = (await Promise.all(pids.map(isOurRestic))).filter(Boolean);
    if (left.length === 0 && !(await lodge.isFrozen())) return;
    assert.ok(Date.now() < deadline, 'a process goes on, or the machine stands still');
    await sleep(50);
  }
}

async function isOurRestic(pid: string): Promise<boolean> {
  const [line, env] = await Promise.all(
    ['cmdline', 'environ'].map((name) => readFile(`/proc/${pid}/${name}`, 'latin1').catch(() => '')),
  );
  return line!.startsWith('restic\0') && env!.includes(lodge.root);
}

const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch(() => []);

async function filesIn(folder: string): Promise<string[]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  return found.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
}

async function assertSame(dataDir: string): Promise<void> {
  for (const id of Object.values(agents)) {
    const [here, there] = [lodge.dataDir, dataDir].map((folder) => join(folder, 'vms', id, 'disk.qcow2'));
    assert.deepEqual(await readFile(there!), await readFile(here!));
  }
  const disk = join('vms', agents.asleep, 'disk.qcow2');
  const [here, there] = await Promise.all(
    [lodge.dataDir, dataDir].map((folder) => stat(join(folder, disk), { bigint: true })),
  );
  assert.equal(there!.mtimeNs, here!.mtimeNs, 'a saved machine knows its layers by the time of their last write');
}

test('backups that are killed at any moment', { timeout: 20 * minuteMs }, async () => {
  const wholeMs = await timed('backup', place, '--with-key', join(lodge.root, 'apart', 'key'));
  const [first] = (await lodge.run(lodge.env, 'backup', 'list', place)).text.trim().split('\n');
  for (let moment = 1; moment <= moments; moment += 1) {
    await killAfter((wholeMs * moment) / (moments + 1), lodge.env, 'backup', place, '--keep', '50');
    await assertQuiet();
  }
  // Kills that came too late left whole backups, so the older one would go by the usual retention.
  await timed('backup', place, '--keep', '50');
  const names = (await lodge.run(lodge.env, 'backup', 'list', place)).text.trim().split('\n');
  assert.ok(names.includes(first!), 'the older one is gone');
  await timed('backup', 'check', place);
  const left = (await filesIn(place)).filter((path) => /-tmp-\d+$|\/locks\//.test(path));
  assert.deepEqual(left, []);
  const inData = await namesIn(lodge.dataDir);
  assert.deepEqual(
    inData.filter((name) => /backup-|restore/.test(name) && name !== 'last-backup.json'),
    [],
  );
});

test('restores that are killed at any moment', { timeout: 20 * minuteMs }, async () => {
  const env = lodge.envOf('other');
  const dataDir = env['LODGE_DATA_DIR']!;
  const began = performance.now();
  const whole = await lodge.run(env, 'restore', place, '--key', keyFile);
  assert.equal(whole.code, 0, whole.text);
  const wholeMs = performance.now() - began;
  await assertSame(dataDir);
  assert.match((await lodge.run(env, 'restore', place)).text, /is not empty/);
  await rm(dataDir, { recursive: true });
  for (let moment = 1; moment <= moments; moment += 1) {
    const ended = await killAfter((wholeMs * moment) / (moments + 1), env, 'restore', place, '--key', keyFile);
    const names = await namesIn(dataDir);
    if (ended) await rm(dataDir, { recursive: true });
    else if (names.includes('vms')) assert.ok(names.includes(unfinished), names.join(' '));
    await assertQuiet();
  }
  if ((await namesIn(dataDir)).includes(unfinished)) {
    const refused = await lodge.run({ ...env, LODGE_MASTER_KEY_FILE: keyFile }, 'backup', join(lodge.root, 'of-half'));
    assert.match(refused.text, /did not come to its end/);
  }
  const last = await lodge.run(env, 'restore', place, '--key', keyFile);
  assert.equal(last.code, 0, last.text);
  await assertSame(dataDir);
  assert.deepEqual(
    (await namesIn(dataDir)).filter((name) => /restore/.test(name)),
    [],
  );
});

test(
  'what is damaged, full or under another key leaves nothing, and says one sentence',
  { timeout: 10 * minuteMs },
  async () => {
    const env = lodge.envOf('refused');
    const refused = async (wanted: RegExp, ...args: string[]): Promise<void> => {
      const { code, text } = await lodge.run(args[0] === 'restore' ? env : lodge.env, ...args);
      assert.equal(code, 1, text);
      assert.match(text, wanted);
      assert.match(text.trim().split('\n').at(-1)!, /^[A-Z/][^\n]+\.$/);
      await assert.rejects(stat(env['LODGE_DATA_DIR']!), { code: 'ENOENT' });
    };
    await refused(/There is no master key in/, 'restore', place);
    const wrong = join(lodge.root, 'wrong.key');
    await copyFile(keyFile, wrong);
    await flip(wrong, 5);
    await refused(/no whole backup under the master key [0-9a-f]{8}/, 'restore', place, '--key', wrong);
    const [pack] = (await sized(join(place, (await readdir(place))[0]!, 'data'))).toReversed();
    await flip(pack!, 100);
    await refused(/are damaged/, 'restore', place, '--key', keyFile);
    await refused(/are damaged/, 'backup', 'check', place);
    await flip(pack!, 100);
    await refused(/cannot be reached/, 'backup', 'sftp://daemon@127.0.0.1:1//nowhere');
    const full = join(lodge.root, 'full');
    await mkdir(full);
    await run('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'lodge-full', full]);
    await refused(/There is no room left in/, 'backup', full);
    await assertQuiet();
    await timed('backup', 'check', place);
  },
);

test('a backup that is due makes itself, and the next one waits for its time', { timeout: 10 * minuteMs }, async () => {
  const own = join(lodge.root, 'by-itself');
  const now = new Date(Date.now() - 60_000).toISOString().slice(11, 16);
  const env = { ...lodge.env, LODGE_BACKUP_PLACE: own, LODGE_BACKUP_AT: now, LODGE_BACKUP_KEEP: 'last=1,daily=7' };
  const config = readConfig(env);
  await noteLastBackup(config, { at: '2026-01-01T00:00:00.000Z', folder: own, name: 'of-long-ago' });
  const ended = Promise.withResolvers<string>();
  const say = (_: unknown, words: string): void => ended.resolve(words);
  const log = { debug() {}, info: say, warn() {}, error: say };
  const timer = startBackupTimer(config, env, log);
  assert.equal(await ended.promise, 'backup made');
  timer.stop();
  const last = await readLastBackup(config);
  const names = (await lodge.run(env, 'backup', 'list')).text.trim().split('\n');
  assert.deepEqual(names, [last?.name]);
  assert.equal(isDue(config.backupAt, last!.at, Date.now()), false);
});

test(
  'one agent comes back as a new one, with a key of its own, and holds no channel',
  { timeout: 10 * minuteMs },
  async () => {
    const template = join(lodge.dataDir, 'templates', 'bare0123-build1');
    const disk = await readFile(join(template, 'disk.qcow2'));
    await rm(template, { recursive: true });
    const began = performance.now();
    const said = await lodge.run(lodge.env, 'restore', place, '--agent', agents.asleep);
    const whole = performance.now() - began;
    assert.equal(said.code, 0, said.text);
    const id = /is the agent ([a-z0-9]{12}) now/.exec(said.text)?.[1] ?? assert.fail(said.text);
    assert.deepEqual(await readFile(join(template, 'disk.qcow2')), disk, 'the template that was gone is back');
    const folder = join(lodge.dataDir, 'vms', id);
    assert.deepEqual((await readdir(folder)).toSorted(), ['disk.qcow2', 'vm.json']);
    assert.deepEqual(
      await readFile(join(folder, 'disk.qcow2')),
      await readFile(join(lodge.dataDir, 'vms', agents.asleep, 'disk.qcow2')),
    );
    const record = JSON.parse(await readFile(join(folder, 'vm.json'), 'utf8')) as Record<string, unknown>;
    assert.deepEqual([record['agentId'], record['phase'], record['credential']], [id, 'disk', undefined]);
    const masterKey = await readMasterKey({ kind: 'file', file: keyFile });
    await lodge.withDatabase(async (client) => {
      const { rows } = await client.query<Record<string, unknown>>('select * from agents where id = $1', [id]);
      assert.deepEqual(
        [rows[0]?.['status'], rows[0]?.['account_id'], rows[0]?.['name']],
        ['stopped', accountId, 'asleep'],
      );
      const keys = await client.query<{ sealed: string }>('select sealed from llm_keys where agent_id = $1', [id]);
      const dataKeys = await client.query<{ id: string; wrapped: string; master_key_id: string }>(
        'select * from data_keys',
      );
      const all = dataKeys.rows.map((row) => ({ id: row.id, wrapped: row.wrapped, masterKeyId: row.master_key_id }));
      const box = await openSecretBox(
        { all: () => Promise.resolve(all), insert: () => Promise.reject(new Error()) },
        masterKey,
      );
      assert.equal(box.open(keys.rows[0]!.sealed, llmKeyContext(id, 'stub')), llmKey);
      const skills = await client.query(
        'select skill_id, version, enabled, members from agent_skills where agent_id = $1',
        [id],
      );
      assert.deepEqual(skills.rows, [{ skill_id: 'notes-id', version: 3, enabled: true, members: [null] }]);
      assert.notEqual(rows[0]?.['skills_wanted'], 'none');
      const channels = await client.query('select agent_id from channels');
      assert.deepEqual(channels.rows, [{ agent_id: agents.asleep }]);
    });
    await killRestoresOfOne(whole);
    const none = await lodge.run(lodge.env, 'restore', place, '--agent', 'anobodyaaaaa');
    assert.equal(none.code, 1);
    assert.match(none.text, /has no agent anobodyaaaaa/);
    assert.ok(!(await namesIn(lodge.dataDir)).includes('restored-copies'));
  },
);

/** Each leaves no agent, a whole one, or one in error that says what to do; and the next one works. */
async function killRestoresOfOne(wholeMs: number): Promise<void> {
  for (let moment = 3; moment <= 6; moment += 1) {
    await killAfter((wholeMs * moment) / 7, lodge.env, 'restore', place, '--agent', agents.asleep);
    await assertQuiet();
  }
  await timed('restore', place, '--agent', agents.asleep);
  await lodge.withDatabase(async (client) => {
    const { rows } = await client.query<{ id: string; status: string; status_reason: unknown }>('select * from agents');
    for (const { id, status, status_reason: reason } of rows) {
      if (status === 'error') assert.match(JSON.stringify(reason), /did not come to its end\. Delete it/);
      else await stat(join(lodge.dataDir, 'vms', id, 'disk.qcow2'));
    }
  });
}

async function sized(folder: string): Promise<string[]> {
  const all = await Promise.all((await filesIn(folder)).map(async (path) => ({ path, size: (await stat(path)).size })));
  return all.toSorted((a, b) => a.size - b.size).map(({ path }) => path);
}

async function flip(path: string, at: number): Promise<void> {
  const handle = await open(path, 'r+');
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, at);
  await handle.write(Buffer.from([buffer[0]! ^ 1]), 0, 1, at);
  await handle.close();
}
