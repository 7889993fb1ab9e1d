/** The program of a checkout that is closed to the user, as one in /root is. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { programFor } from './program.ts';

const skip = process.geteuid!() === 0 ? false : 'only root becomes another user';
const user = { name: 'daemon', uid: 1, gid: 1 };
const probe = `
  const { writeFileSync } = require('node:fs');
  let wrote = 'wrote';
  try { writeFileSync(__filename, ''); } catch (error) { wrote = error.code; }
  console.log([__filename, process.getuid(), wrote].join(' '));`;
let folder: string;
let checkout: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lodge-program-'));
  chmodSync(folder, 0o711);
  checkout = join(folder, 'closed', 'lodge');
  mkdirSync(checkout, { recursive: true });
  chmodSync(join(folder, 'closed'), 0o700);
  copyFileSync(process.execPath, join(checkout, 'node'));
  writeFileSync(join(checkout, 'entry.cjs'), probe);
});
afterEach(() => rmSync(folder, { recursive: true }));

const placeOf = () => ({
  node: join(checkout, 'node'),
  entry: join(checkout, 'entry.cjs'),
  checkout,
  view: join(folder, 'program'),
});

async function report(): Promise<string> {
  const { through, argv } = await programFor(user, placeOf());
  const [command, ...args] = [...through, 'setpriv', '--reuid=1', '--regid=1', '--clear-groups', '--', ...argv];
  return execFileSync(command!, args, { encoding: 'utf8', cwd: '/' }).trim();
}

test('it is run where it is when the user can read it', { skip }, async () => {
  chmodSync(join(folder, 'closed'), 0o711);
  assert.equal(await report(), `${join(checkout, 'entry.cjs')} 1 EACCES`);
  assert.deepEqual(readdirSync(folder), ['closed']);
});

test('behind a closed folder it is seen elsewhere, read-only, by its process alone', { skip }, async () => {
  chmodSync(join(checkout, 'entry.cjs'), 0o666);
  for (let start = 0; start < 2; start += 1) {
    assert.equal(await report(), `${join(folder, 'program', 'entry.cjs')} 1 EROFS`);
    assert.deepEqual(readdirSync(join(folder, 'program')), []);
  }
});

test('a checkout that is closed itself is refused with the command that opens it', { skip }, async () => {
  chmodSync(join(checkout, 'entry.cjs'), 0o600);
  await assert.rejects(programFor(user, placeOf()), new RegExp(`chmod -R go=rX ${checkout}`));
});
