import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { cryptography, loadMasterKey, masterKeyId, MasterKeyError, openSecretBox } from '@lodge/access';
import { createAccounts } from '@lodge/engine';
import type { Caller } from '@lodge/engine';
import { ensureFirstKey } from '../host/first-key.ts';
import { totpContext } from '@lodge/ports';
import { migrate, openStore, startEmbeddedPostgres } from '@lodge/store';
import type { Store } from '@lodge/store';
import { execute } from '@lodge/testkit/postgres';

const run = promisify(execFile);
const main = join(import.meta.dirname, 'main.ts');
const log = { debug() {}, info() {}, warn() {}, error() {} };
const caller: Caller = { address: '192.0.2.1', userAgent: null, requestId: 'req_1' };
const password = 'correct horse battery staple';
let dataDir: string;
let keyFile: string;
let child: ChildProcess | null = null;
const user = process.geteuid!() === 0 ? 'lodge' : userInfo().username;

before(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'lodge-cli-'));
  await chmod(dataDir, 0o711);
  keyFile = join(dataDir, 'master.key');
});
after(async () => {
  if (child?.exitCode === null) {
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    await exited;
  }
  await rm(dataDir, { recursive: true, force: true });
});

async function lodge(...args: string[]): Promise<{ readonly code: number; readonly text: string }> {
  const env = {
    ...process.env,
    LODGE_DATA_DIR: dataDir,
    LODGE_INSTANCE: 'tacc',
    LODGE_SYSTEM_USER: user,
    DATABASE_URL: '',
  };
  try {
    const { stdout } = await run(process.execPath, [main, ...args], { env });
    return { code: 0, text: stdout };
  } catch (error) {
    const { code, stderr } = error as { readonly code: number; readonly stderr: string };
    return { code, text: stderr };
  }
}

const tokenIn = (text: string): string => /#token=([\w-]{43})\n/.exec(text)![1]!;

/** Works on a database that the test makes, as a control plane would. */
async function withStore<T>(work: (store: Store, connectionString: string) => Promise<T>): Promise<T> {
  const postgres = await startEmbeddedPostgres({ dataDir: join(dataDir, 'postgres'), user, log });
  try {
    const { connectionString } = postgres;
    await migrate({ connectionString });
    const store = await openStore({ connectionString, log });
    try {
      return await work(store, connectionString);
    } finally {
      await store.close();
    }
  } finally {
    await postgres.stop();
  }
}

// The tests below go through the life of one deployment, in order.
test('before the first start there is nobody to make a link for', async () => {
  const { code, text } = await lodge('owner-link');
  assert.equal(code, 1);
  assert.match(text, /no account yet/);
});

test('the owner link of a deployment that stands still makes its account somebody’s', async () => {
  await withStore(async (store) => (await ensureFirstKey(store.database, join(dataDir, 'first-key')))!.shown());
  const { code, text } = await lodge('owner-link');
  assert.equal(code, 0, text);
  assert.match(text, /http:\/\/127\.0\.0\.1:8080\/account\/setup#token=/);
  await withStore(async (store) => {
    const secrets = await openSecretBox(store.secrets, await loadMasterKey(keyFile));
    const accounts = createAccounts({
      crypto: cryptography,
      database: store.database,
      secrets,
      log,
      registrationOpen: false,
      origin: () => 'http://localhost',
    });
    await accounts.setUp({ token: tokenIn(text), email: 'ada@example.com', name: 'Ada', password }, caller);
    await accounts.close();
  });
  const again = await lodge('owner-link');
  assert.deepEqual([again.code, /set up already/.test(again.text)], [1, true]);
});

test('a password is reset while the control plane runs, and its database goes on running', async () => {
  const imports = `
    const { lockInstance } = await import(${JSON.stringify(join(import.meta.dirname, '../host/instance-lock.ts'))});
    const { startEmbeddedPostgres } = await import('@lodge/store');
    const log = { debug() {}, info() {}, warn() {}, error() {} };
    await lockInstance(${JSON.stringify(dataDir)});
    const options = { dataDir: ${JSON.stringify(join(dataDir, 'postgres'))}, user: ${JSON.stringify(user)}, log };
    const postgres = await startEmbeddedPostgres(options);
    process.on('SIGTERM', () => void postgres.stop().then(() => process.exit(0)));
    setInterval(() => {}, 1000);
    console.log(postgres.connectionString);`;
  child = spawn(process.execPath, ['--input-type=module', '-e', imports], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said] = (await once(child.stdout!, 'data')) as [Buffer];
  const { code, text } = await lodge('reset-password', 'ADA@example.com');
  assert.equal(code, 0, text);
  const connectionString = said.toString().trim();
  const links = await execute<{ kind: string }>(
    connectionString,
    `select kind from account_links where kind = 'reset' and hash = sha256('${tokenIn(text)}'::bytea)`,
  );
  assert.equal(links.length, 1);
  const unknown = await lodge('reset-password', 'nobody@example.com');
  assert.deepEqual([unknown.code, /No account has this e-mail/.test(unknown.text)], [1, true]);
  const rotation = await lodge('rotate-master-key');
  assert.deepEqual([rotation.code, /already runs/.test(rotation.text)], [1, true]);
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  assert.deepEqual(await exited, [0, null]);
});

test('the master key is changed, and the old one is kept under another name', async () => {
  const oldKey = await loadMasterKey(keyFile);
  await withStore(async (store, connectionString) => {
    const secrets = await openSecretBox(store.secrets, oldKey);
    const [{ id }] = (await execute<{ id: string }>(connectionString, 'select id from accounts')) as [{ id: string }];
    const sealed = secrets.seal('TOTP', totpContext(id));
    await execute(connectionString, `update accounts set totp_sealed = '${sealed}'`);
  });
  const { code, text } = await lodge('rotate-master-key');
  assert.equal(code, 0, text);
  const newKey = await loadMasterKey(keyFile);
  assert.notDeepEqual(newKey, oldKey);
  const kept = `${keyFile}.${masterKeyId(oldKey)}.old`;
  assert.deepEqual(await readFile(kept), oldKey);
  await checkOpens(newKey, oldKey);
});

test('cut off after the secrets moved and before the new key was in place, the same command ends it', async () => {
  const before = await loadMasterKey(keyFile);
  assert.equal((await lodge('rotate-master-key')).code, 0);
  const after_ = await loadMasterKey(keyFile);
  // The state that a kill between the two leaves.
  await copyFile(keyFile, `${keyFile}.new`);
  await rm(keyFile);
  await writeFile(keyFile, before, { mode: 0o600 });
  await checkOpens(after_, before);
  assert.equal((await lodge('rotate-master-key')).code, 0);
  assert.deepEqual(await loadMasterKey(keyFile), after_);
  assert.ok(!(await readdir(dataDir)).includes('master.key.new'));
});

test('a key that is not in a file needs the command that writes the new one', async () => {
  const { code, text } = await lodge('rotate-master-key', '--new-key-command', 'cat key');
  assert.deepEqual([code, /leave --new-key-command out/.test(text)], [1, true]);
});

async function checkOpens(key: Buffer, notKey: Buffer): Promise<void> {
  await withStore(async (store) => {
    const box = await openSecretBox(store.secrets, key);
    const [value] = await store.secrets.notUnder('none', 10);
    assert.equal(box.open(value!.sealed, value!.context), 'TOTP');
    await assert.rejects(openSecretBox(store.secrets, notKey), MasterKeyError);
  });
}
