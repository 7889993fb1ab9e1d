import assert from 'node:assert/strict';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { controlUser, findUser, makeOwnFolder } from './control-user.ts';

const skip = process.geteuid!() === 0 ? false : 'only root gives files away';
const user = { name: 'daemon', uid: 1, gid: 1 };
let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'lodge-own-'));
  chmodSync(dataDir, 0o711);
});
afterEach(() => rmSync(dataDir, { recursive: true }));

const ownerOf = (...path: string[]): number => statSync(join(dataDir, ...path)).uid;

test('the folder is the user’s alone, and stays so', { skip }, async () => {
  for (let start = 0; start < 2; start += 1) {
    const folder = await makeOwnFolder({ dataDir }, user);
    assert.equal(folder, join(dataDir, 'control-plane'));
    const { uid, gid, mode } = statSync(folder);
    assert.deepEqual([uid, gid, mode & 0o777], [1, 1, 0o700]);
  }
});

test('secrets that an earlier release had yet to show are moved, whatever a kill left', { skip }, async () => {
  writeFileSync(join(dataDir, 'first-key'), 'key', { mode: 0o600 });
  writeFileSync(join(dataDir, 'owner-link'), 'link', { mode: 0o600 });
  // A kill came after the folder was made and the first file given away.
  mkdirSync(join(dataDir, 'control-plane'), { mode: 0o700 });
  chownSync(join(dataDir, 'first-key'), 1, 1);
  await makeOwnFolder({ dataDir }, user);
  assert.deepEqual(readdirSync(dataDir), ['control-plane']);
  assert.equal(readFileSync(join(dataDir, 'control-plane', 'first-key'), 'utf8'), 'key');
  assert.equal(readFileSync(join(dataDir, 'control-plane', 'owner-link'), 'utf8'), 'link');
  assert.deepEqual([ownerOf('control-plane', 'first-key'), ownerOf('control-plane', 'owner-link')], [1, 1]);
});

test(
  'what a start of one process left there is given away; what lies in the user’s own folder is not',
  { skip },
  async () => {
    await makeOwnFolder({ dataDir }, null);
    writeFileSync(join(dataDir, 'control-plane', 'first-key'), 'key', { mode: 0o600 });
    await makeOwnFolder({ dataDir }, user);
    assert.equal(ownerOf('control-plane', 'first-key'), 1);
    // The file is like a hard link to another's file.
    writeFileSync(join(dataDir, 'control-plane', 'owner-link'), 'of root', { mode: 0o600 });
    await makeOwnFolder({ dataDir }, user);
    assert.equal(ownerOf('control-plane', 'owner-link'), 0);
  },
);

test('a user that is missing, or root, is refused with what to do', { skip }, async () => {
  await assert.rejects(controlUser({ controlUser: 'no-such-user' }), /useradd --system .* no-such-user/);
  await assert.rejects(controlUser({ controlUser: 'root' }), /LODGE_CONTROL_USER must not be root/);
  assert.equal(await findUser('no-such-user'), null);
  assert.deepEqual(await controlUser({ controlUser: 'daemon' }), user);
});
