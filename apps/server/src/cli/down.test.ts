import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { access, chmod, mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { promisify } from 'node:util';

const run = promisify(execFile);
const main = join(import.meta.dirname, 'main.ts');
let dataDir: string;
let child: ChildProcess | null = null;
let server: string | null = null;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'lodge-down-'));
  await chmod(dataDir, 0o711);
});

afterEach(async () => {
  child?.kill('SIGKILL');
  child = null;
  if (server !== null && (await runs(server))) process.kill(Number(server), 'SIGKILL');
  server = null;
  await rm(dataDir, { recursive: true, force: true });
});

const environment = () => ({ ...process.env, LODGE_DATA_DIR: dataDir, LODGE_INSTANCE: 'tdown', DATABASE_URL: '' });
const down = async () => (await run(process.execPath, [main, 'down'], { env: environment() })).stdout;

/** An ended process may stay in the process table, as a zombie, until init reaps it. */
async function runs(pid: string): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return /\) [^ZX] /.test(stat);
}

/** A child that imports this package's modules by the given names and then prints something. */
async function startChild(code: string): Promise<string> {
  const imports = `
    const { lockInstance } = await import(${JSON.stringify(join(import.meta.dirname, '../host/instance-lock.ts'))});
    const { startEmbeddedPostgres } = await import('@lodge/store');`;
  child = spawn(process.execPath, ['--input-type=module', '-e', imports + code], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said] = (await once(child.stdout!, 'data')) as [Buffer];
  return said.toString().trim();
}

test('down where nothing was ever started says so and makes nothing', async () => {
  assert.equal(await down(), 'Nothing of tdown runs.\n');
  assert.deepEqual(await readdir(dataDir), []);
  await rm(dataDir, { recursive: true });
  assert.equal(await down(), 'Nothing of tdown runs.\n');
  await assert.rejects(access(dataDir));
});

test('down ends the control plane that holds the data folder, by asking it', async () => {
  await startChild(`
    await lockInstance(${JSON.stringify(dataDir)});
    process.on('SIGTERM', () => process.exit(7));
    setInterval(() => {}, 1000);
    console.log('up');`);
  const exited = once(child!, 'exit');
  assert.match(await down(), new RegExp(`control plane \\(pid ${child!.pid}\\) stopped`));
  assert.deepEqual(await exited, [7, null]);
});

test('down ends a database that a killed control plane left running, and keeps its data', async () => {
  const user = process.geteuid!() === 0 ? 'lodge' : userInfo().username;
  const options = JSON.stringify({ dataDir: join(dataDir, 'postgres'), user });
  server = await startChild(`
    const log = { debug() {}, info() {}, warn() {}, error() {} };
    const postgres = await startEmbeddedPostgres({ ...${options}, log });
    console.log(postgres.pid);`);
  child!.kill('SIGKILL');
  assert.ok(await runs(server), 'the server outlives its control plane');
  assert.match(await down(), /database stopped/);
  assert.equal(await runs(server), false);
  await access(join(dataDir, 'postgres', 'cluster', 'PG_VERSION'));
  assert.equal(await down(), 'Nothing of tdown runs.\n');
});
