import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { loadMasterKey, MasterKeyError, readMasterKey } from './master-key.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lodge-master-key-'));
  file = join(folder, 'master.key');
});
afterEach(() => rmSync(folder, { recursive: true }));

test('the first start makes 32 random bytes that only the owner can read; later ones read the same', async () => {
  const key = await loadMasterKey(file);
  assert.equal(key.length, 32);
  assert.notDeepEqual(key, Buffer.alloc(32));
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.deepEqual(await loadMasterKey(file), key);
  assert.deepEqual(readdirSync(folder), ['master.key'], 'nothing else is left behind');
});

test('processes that start at once all get the same key', async () => {
  const module = new URL('./master-key.ts', import.meta.url).href;
  // Each process waits for the same instant, so they race for the file and not for the start.
  const at = Date.now() + 3000;
  const code = `const { loadMasterKey } = await import(${JSON.stringify(module)});
    while (Date.now() < ${at});
    process.stdout.write((await loadMasterKey(${JSON.stringify(file)})).toString('hex'));`;
  const keys = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
        stdio: ['ignore', 'pipe', 'inherit'],
        timeout: 60_000,
      });
      let output = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
      await once(child, 'close');
      return output;
    }),
  );
  assert.deepEqual(keys, Array(4).fill((await loadMasterKey(file)).toString('hex')));
  assert.deepEqual(readdirSync(folder), ['master.key']);
});

test('racing loads within a process agree too', async () => {
  const keys = await Promise.all(Array.from({ length: 50 }, () => loadMasterKey(file)));
  assert.equal(new Set(keys.map((key) => key.toString('hex'))).size, 1);
});

test('a file that others can read is refused with the command that mends it', async () => {
  await loadMasterKey(file);
  for (const mode of [0o640, 0o604, 0o620, 0o601]) {
    chmodSync(file, mode);
    await assert.rejects(
      loadMasterKey(file),
      (error: Error) => error instanceof MasterKeyError && error.message.includes(`Run: chmod 600 ${file}`),
    );
  }
});

test('a damaged file is refused and not replaced', async () => {
  await loadMasterKey(file);
  truncateSync(file, 31);
  await assert.rejects(loadMasterKey(file), /has 31 bytes instead of 32/);
  writeFileSync(file, '');
  await assert.rejects(loadMasterKey(file), /has 0 bytes/);
});

test('a secret mounted through a symbolic link is read; a folder is refused', async () => {
  const key = await loadMasterKey(file);
  symlinkSync(file, join(folder, 'mounted'));
  assert.deepEqual(await loadMasterKey(join(folder, 'mounted')), key);
  await assert.rejects(loadMasterKey(folder), MasterKeyError);
});

test('a key comes from text or from a command too, in either base64', async () => {
  const key = randomBytes(32);
  for (const text of [key.toString('base64'), key.toString('base64url'), ` ${key.toString('base64')}\n`]) {
    assert.deepEqual(await readMasterKey({ kind: 'text', base64: text }), key);
    writeFileSync(file, text);
    assert.deepEqual(await readMasterKey({ kind: 'command', command: `cat '${file}'` }), key);
  }
});

test('what is no key is refused without being repeated', async () => {
  const secret = randomBytes(31).toString('base64');
  for (const text of ['', 'x', secret, `${randomBytes(32).toString('base64')}!`, randomBytes(33).toString('base64')]) {
    await assert.rejects(
      readMasterKey({ kind: 'text', base64: text }),
      (error: Error) => error instanceof MasterKeyError && !(text.length > 1 && error.message.includes(text)),
    );
  }
});

test('a command that fails or floods is refused', async () => {
  for (const command of ['exit 3', 'cat /dev/zero', 'echo']) {
    await assert.rejects(readMasterKey({ kind: 'command', command }), MasterKeyError, command);
  }
});
