import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readFile, readdir, readlink, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { execute, testServerFolder } from '@lodge/testkit/postgres';
import type { TestServerFolder } from '@lodge/testkit/postgres';
import { startEmbeddedPostgres } from './embedded-postgres.ts';
import type { EmbeddedPostgres } from './embedded-postgres.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };
// A server for the tests that need no folder of their own, because initdb is most of a first start.
const common = await testServerFolder();
after(() => common.remove());

async function start(t: TestContext, { dataDir, user } = common): Promise<EmbeddedPostgres> {
  const postgres = await startEmbeddedPostgres({ dataDir, user, log: silent });
  t.after(() => postgres.stop());
  return postgres;
}

/** Spawns a control plane to be killed. It starts the server, prints its pid and lives on. */
function spawnControlPlane(t: TestContext, { dataDir, user }: TestServerFolder) {
  const module = new URL('./embedded-postgres.ts', import.meta.url).href;
  const script = `
    const { startEmbeddedPostgres } = await import(${JSON.stringify(module)});
    const log = { debug() {}, info() {}, warn() {}, error() {} };
    const { pid } = await startEmbeddedPostgres({ dataDir: ${JSON.stringify(dataDir)}, user: ${JSON.stringify(user)}, log });
    console.log(pid);
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  return child;
}

/** Returns the pid that it prints once its server is up. */
async function serverOf(controlPlane: ReturnType<typeof spawnControlPlane>): Promise<number> {
  const ended = once(controlPlane, 'exit').then(() => Promise.reject(new Error('the control plane ended')));
  const [line] = (await Promise.race([once(controlPlane.stdout, 'data'), ended])) as [Buffer];
  ended.catch(() => undefined);
  return Number(String(line));
}

test('a second start on the same folder is ready within a second, and has the rows of the first', async (t) => {
  const first = await start(t);
  await execute(first.connectionString, 'create table kept as select 1 as n');
  await first.stop();
  const tookMs: number[] = [];
  // The fastest of three counts, because other work on the machine is not measured.
  for (let n = 0; n < 3; n += 1) {
    const began = performance.now();
    const second = await start(t);
    tookMs.push(performance.now() - began);
    assert.deepEqual(await execute(second.connectionString, 'select n from kept'), [{ n: 1 }]);
    await second.stop();
  }
  assert.ok(Math.min(...tookMs) < 1000, `took ${tookMs.join(', ')} ms`);
});

test('settings keep acknowledged rows on disk, and no TCP port is open', async (t) => {
  const { connectionString } = await start(t);
  const settings = await execute<{ name: string; setting: string }>(
    connectionString,
    `select name, setting from pg_settings where name in ('fsync', 'full_page_writes', 'listen_addresses', 'synchronous_commit') order by name`,
  );
  assert.deepEqual(
    settings.map(({ name, setting }) => `${name}=${setting}`),
    ['fsync=on', 'full_page_writes=on', 'listen_addresses=', 'synchronous_commit=on'],
  );
});

test('a killed server is started again, and no acknowledged row is lost', async (t) => {
  const postgres = await start(t);
  await execute(postgres.connectionString, 'create table acknowledged (n integer primary key)');
  const acknowledged: number[] = [];
  const writing = new AbortController();
  const writers = [0, 1, 2].map(async (writer) => {
    for (let n = writer; !writing.signal.aborted; n += 3) {
      await execute(postgres.connectionString, `insert into acknowledged values (${n})`).then(
        () => acknowledged.push(n),
        () => sleep(10),
      );
    }
  });
  for (let kill = 1; kill <= 3; kill += 1) {
    const before = acknowledged.length;
    while (acknowledged.length < before + 20) await sleep(20);
    const restarted = new Promise<void>((resolve) => void postgres.onRestart(resolve));
    process.kill(postgres.pid, 'SIGKILL');
    await restarted;
  }
  writing.abort();
  await Promise.all(writers);
  const rows = await execute<{ n: number }>(postgres.connectionString, 'select n from acknowledged');
  const present = new Set(rows.map(({ n }) => n));
  assert.ok(acknowledged.length >= 60);
  assert.deepEqual(
    acknowledged.filter((n) => !present.has(n)),
    [],
  );
});

test('the server outlives a killed control plane, and the next one adopts it', async (t) => {
  const earlier = spawnControlPlane(t, common);
  const server = await serverOf(earlier);
  earlier.kill('SIGKILL');
  await once(earlier, 'exit');
  const postgres = await start(t);
  assert.equal(postgres.pid, server);
  process.kill(postgres.pid, 'SIGKILL');
  await new Promise<void>((resolve) => postgres.onRestart(resolve));
  assert.notEqual(postgres.pid, server, 'an adopted server is watched like an own one');
  assert.deepEqual(await execute(postgres.connectionString, 'select 1 as n'), [{ n: 1 }]);
});

test('after a kill of control plane and server at once, the next start brings the server up', async (t) => {
  const earlier = spawnControlPlane(t, common);
  const server = await serverOf(earlier);
  earlier.kill('SIGKILL');
  process.kill(server, 'SIGKILL');
  const postgres = await start(t);
  assert.notEqual(postgres.pid, server);
  assert.deepEqual(await execute(postgres.connectionString, 'select 1 as n'), [{ n: 1 }]);
});

test('a server that hangs is replaced', async (t) => {
  const earlier = spawnControlPlane(t, common);
  const server = await serverOf(earlier);
  earlier.kill('SIGKILL');
  process.kill(server, 'SIGSTOP');
  const postgres = await start(t);
  assert.notEqual(postgres.pid, server);
  assert.deepEqual(await execute(postgres.connectionString, 'select 1 as n'), [{ n: 1 }]);
});

test('a lock file whose pid a stranger has by now does not keep the server from starting', async (t) => {
  const first = await start(t);
  const lock = await readFile(join(common.dataDir, 'cluster', 'postmaster.pid'), 'utf8');
  const socketLock = join(common.dataDir, 'socket', '.s.PGSQL.5432.lock');
  await first.stop();
  // The stranger must be of Postgres's user, because Postgres takes no other process for a server.
  const id = await userId(common.user);
  const stranger = spawn('sleep', ['60'], id);
  t.after(() => stranger.kill('SIGKILL'));
  const stale = lock.replace(/^\d+/, String(stranger.pid));
  await writeFile(join(common.dataDir, 'cluster', 'postmaster.pid'), stale);
  await writeFile(socketLock, stale);
  const second = await start(t);
  assert.deepEqual(await execute(second.connectionString, 'select 1 as n'), [{ n: 1 }]);
});

test('killed at any moment of its first start, the next start succeeds and leaves nothing half made', async (t) => {
  const folder = await testServerFolder();
  t.after(() => folder.remove());
  for (const killAfterMs of [150, 400, 700, 1000, 1300]) {
    const child = spawnControlPlane(t, folder);
    await sleep(killAfterMs);
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  const postgres = await start(t, folder);
  assert.deepEqual(await execute(postgres.connectionString, 'select 1 as n'), [{ n: 1 }]);
  await postgres.stop();
  // An initdb that lost its parent may have gone on writing. The start after this one removes its leftovers.
  await sleep(1_500);
  await (await start(t, folder)).stop();
  const names = (await readdir(folder.dataDir)).map((name) => name.replace(/^postgres-.*\d$/, 'postgres-N')).sort();
  assert.deepEqual(names, ['cluster', 'pg_hba.conf', 'pg_ident.conf', 'postgres-N', 'postgres.log', 'socket']);
});

test('stop leaves no process on the folder', async (t) => {
  const postgres = await start(t);
  const { pid } = postgres;
  await postgres.stop();
  await assert.rejects(readlink(`/proc/${pid}/cwd`), { code: 'ENOENT' });
  await postgres.stop();
});

test('a folder made by another version is refused with the way out', async (t) => {
  const folder = await testServerFolder();
  t.after(() => folder.remove());
  await (await start(t, folder)).stop();
  await writeFile(join(folder.dataDir, 'cluster', 'PG_VERSION'), '16\n');
  await assert.rejects(start(t, folder), /made by Postgres 16, .*brings Postgres 18.*pg_dump/);
});

test('what keeps Postgres from starting is in the error', async (t) => {
  const folder = await testServerFolder();
  t.after(() => folder.remove());
  await (await start(t, folder)).stop();
  await rm(join(folder.dataDir, 'cluster', 'global', 'pg_control'));
  await assert.rejects(start(t, folder), /Postgres did not start: .*pg_control/);
});

test('a path too long for a socket is refused before anything is made', async (t) => {
  const dataDir = join(common.dataDir, 'x'.repeat(90));
  await assert.rejects(start(t, { ...common, dataDir }), /bytes too long for a unix socket/);
  await assert.rejects(readdir(dataDir), { code: 'ENOENT' });
});

const asRoot = { skip: process.geteuid!() === 0 ? false : 'only root runs Postgres as another user' };

test('a missing system user is refused with the command that makes it', asRoot, async (t) => {
  await assert.rejects(start(t, { ...common, user: 'no-such-user' }), /useradd --system .* no-such-user/);
});

test('root is refused as the user', asRoot, async (t) => {
  await assert.rejects(start(t, { ...common, user: 'root' }), /refuses root/);
});

test('a closed folder above the data is named', asRoot, async (t) => {
  const folder = await testServerFolder();
  t.after(() => folder.remove());
  await chmod(folder.dataDir, 0o700);
  const dataDir = join(folder.dataDir, 'data');
  await assert.rejects(start(t, { ...folder, dataDir }), new RegExp(`folder ${folder.dataDir} is closed`));
});

test("other local users cannot log in, not even Postgres's own", asRoot, async (t) => {
  const postgres = await start(t);
  for (const user of ['daemon', common.user]) {
    const script = `
      const { Client } = require('pg');
      const client = new Client({ connectionString: ${JSON.stringify(postgres.connectionString)} });
      client.connect().then(() => console.log('in'), (error) => console.log(error.code)).finally(() => client.end());`;
    const child = spawn(process.execPath, ['-e', script], { ...(await userId(user)), cwd: import.meta.dirname });
    const [answer] = (await once(child.stdout, 'data')) as [Buffer];
    // The socket's folder keeps strangers out, and the access rules those who pass it (invalid_authorization_specification).
    assert.equal(String(answer).trim(), user === 'daemon' ? 'EACCES' : '28000', user);
  }
});

test(
  'a further user logs in where it is named, and a server that was started without it is started again',
  asRoot,
  async (t) => {
    const folder = await testServerFolder();
    t.after(() => folder.remove());
    const earlier = spawnControlPlane(t, folder);
    const server = await serverOf(earlier);
    earlier.kill('SIGKILL');
    const postgres = await startEmbeddedPostgres({ ...folder, client: 'daemon', log: silent });
    t.after(() => postgres.stop());
    assert.notEqual(postgres.pid, server);
    const answers = [];
    for (const user of ['daemon', 'bin', folder.user]) {
      const script = `
      const { Client } = require('pg');
      const client = new Client({ connectionString: ${JSON.stringify(postgres.connectionString)} });
      client.connect().then(() => console.log('in'), (error) => console.log(error.code)).finally(() => client.end());`;
      const child = spawn(process.execPath, ['-e', script], { ...(await userId(user)), cwd: import.meta.dirname });
      const [answer] = (await once(child.stdout, 'data')) as [Buffer];
      answers.push(String(answer).trim());
    }
    assert.deepEqual(answers, ['in', 'EACCES', '28000']);
  },
);

async function userId(name: string): Promise<{ readonly uid: number; readonly gid: number }> {
  const passwd = await readFile('/etc/passwd', 'utf8');
  const [, , uid, gid] = passwd
    .split('\n')
    .find((line) => line.startsWith(`${name}:`))!
    .split(':');
  return process.geteuid!() === 0
    ? { uid: Number(uid), gid: Number(gid) }
    : { uid: process.geteuid!(), gid: process.getegid!() };
}
