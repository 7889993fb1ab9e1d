/** Files and whole folders by the SDK, between a folder of this host and an agent's workspace. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Lodge, LodgeError, NotFoundError } from '@lodge/sdk';
import { downloadFile, downloadFolder, uploadFile, uploadFolder } from '@lodge/sdk/node';
import type { FolderProgress } from '@lodge/sdk/node';
import { openWorld } from '../e2e/api/world.ts';
import type { World } from '../e2e/api/world.ts';

let world: World;
let lodge: Lodge;
let id: string;
let here: string;
before(async () => {
  world = await openWorld({ withGuest: true });
  lodge = new Lodge({ baseUrl: world.url, apiKey: world.key });
  id = (await lodge.agents.create({ name: 'folders' })).id;
  here = await mkdtemp(join(tmpdir(), 'sdk-folders-'));
});
after(async () => {
  await world?.close();
  await rm(here, { recursive: true, force: true });
});

test('a folder goes there and back, with progress, without what is ignored and without links', async () => {
  const local = join(here, 'local');
  await mkdir(join(local, 'a/b'), { recursive: true });
  await mkdir(join(local, 'node_modules/x'), { recursive: true });
  await mkdir(join(local, 'empty'));
  for (let n = 0; n < 12; n += 1) await writeFile(join(local, 'a/b', `${n}.txt`), `file ${n}`);
  await writeFile(join(local, 'big.bin'), new Uint8Array(2_000_000).fill(1));
  await writeFile(join(local, 'node_modules/x/index.js'), 'no');
  await symlink('/etc/passwd', join(local, 'link'));
  const told: FolderProgress[] = [];
  const options = {
    ignore: (path: string) => path === 'node_modules',
    onProgress: (progress: FolderProgress) => told.push(progress),
  };
  const sent = await uploadFolder(lodge, id, local, 'project/', options);
  assert.deepEqual([sent.files, sent.skipped], [13, ['link']]);
  const last = told.at(-1)!;
  assert.deepEqual([last.files, last.allFiles, last.bytes, last.allBytes], [13, 13, sent.bytes, sent.bytes]);

  const back = join(here, 'back');
  const got = await downloadFolder(lodge, id, 'project', back, { ignore: (path) => path === 'a/b/3.txt' });
  assert.deepEqual([got.files, got.skipped], [12, []]);
  assert.deepEqual((await readdir(back)).sort(), ['a', 'big.bin', 'empty']);
  assert.deepEqual((await readdir(join(back, 'a/b'))).length, 11);
  assert.equal(await readFile(join(back, 'a/b/7.txt'), 'utf8'), 'file 7');
  assert.equal((await readFile(join(back, 'big.bin'))).length, 2_000_000);
});

test('a file that is not there leaves nothing behind, and one that is replaces the old', async () => {
  const target = join(here, 'single');
  await mkdir(target);
  await assert.rejects(downloadFile(lodge, id, 'nothing.txt', join(target, 'x')), NotFoundError);
  await writeFile(join(target, 'x'), 'old');
  await writeFile(join(here, 'new'), 'new');
  await uploadFile(lodge, id, join(here, 'new'), 'x.txt');
  await downloadFile(lodge, id, 'x.txt', join(target, 'x'));
  assert.deepEqual([await readdir(target), await readFile(join(target, 'x'), 'utf8')], [['x'], 'new']);
});

test('a failure ends the other files of a folder, and so does a signal', async () => {
  const local = join(here, 'some');
  await mkdir(local);
  for (let n = 0; n < 30; n += 1) await writeFile(join(local, `${n}`), 'x');
  await assert.rejects(uploadFolder(lodge, 'aaaaaaaaaaaa', local, ''), { code: 'agent_not_found' });
  const stop = new AbortController();
  const options = {
    signal: stop.signal,
    concurrency: 1,
    onProgress: ({ files }: FolderProgress) => files === 1 && stop.abort(),
  };
  await assert.rejects(uploadFolder(lodge, id, local, 'some', options), { name: 'AbortError' });
  assert.ok((await lodge.files.list(id, { path: 'some' })).data.length < 5);
});

test('names that a server makes up do not leave the folder, nor do links that are in it', async () => {
  let name = '';
  const server = createServer((request, reply) => {
    const entry = { name, path: name, type: request.url!.includes('/sub') ? 'file' : 'directory', size: 1 };
    reply.setHeader('content-type', 'application/json');
    reply.end(JSON.stringify({ object: 'list', data: [entry], has_more: false, next_cursor: null }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const hostile = new Lodge({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, apiKey: 'x' });
  try {
    for (name of ['..', '.', '', '../evil', '/etc', 'a/../../b', 'nul\0', 'x'.repeat(5_000)]) {
      const target = join(here, 'target');
      await assert.rejects(downloadFolder(hostile, id, 'x', target), LodgeError, JSON.stringify(name));
      assert.deepEqual(await readdir(target), []);
    }
    await symlink('/tmp', join(here, 'target', 'sub'));
    name = 'sub';
    await assert.rejects(downloadFolder(hostile, id, 'x', join(here, 'target')), /no folder/);
    name = 'deep';
    await assert.rejects(downloadFolder(hostile, id, 'x', join(here, 'deep')), /too deep/);
  } finally {
    server.close();
  }
});
