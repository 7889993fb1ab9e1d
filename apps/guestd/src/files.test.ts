import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { stat, readdir } from 'node:fs/promises';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { after, before, test } from 'node:test';
import { maxFileBytes } from '@lodge/guest';
import { Daemon, refusedWith } from './testing.ts';

const daemon = new Daemon();
before(async () => {
  await daemon.prepare();
  await daemon.start();
});
after(() => daemon.remove());

test('a file is written whole, with owner and mode, and its parents are made', async () => {
  const path = join(daemon.root, 'workspace/a/b/c.txt');
  await daemon.client.writeFile(path, 'old', { mode: 0o644, owner: 'agent' });
  await daemon.client.writeFile(path, Buffer.from([0, 255, 10]), { mode: 0o600, owner: 'agent' });
  assert.deepEqual(await daemon.client.readFile(path), Buffer.from([0, 255, 10]));
  const facts = await stat(path);
  assert.equal(facts.mode & 0o777, 0o600);
  const agent = (await stat(join(daemon.root, 'workspace'))).uid;
  assert.equal(facts.uid, agent);
  assert.equal((await stat(join(daemon.root, 'workspace/a'))).uid, agent);
  assert.deepEqual(await readdir(join(daemon.root, 'workspace/a/b')), ['c.txt']);
});

test('a file of many megabytes goes there and back', async () => {
  const path = join(daemon.root, 'workspace/big');
  const bytes = Buffer.alloc(20_000_000, 'lodge ');
  await daemon.client.writeFile(path, bytes, { mode: 0o644, owner: 'root' });
  assert.ok(bytes.equals(await daemon.client.readFile(path)));
});

test('a symbolic link of the agent cannot turn a write to another place', async () => {
  const { root, client } = daemon;
  mkdirSync(join(root, 'secret'));
  writeFileSync(join(root, 'secret/file'), 'untouched');
  symlinkSync(join(root, 'secret'), join(root, 'workspace/link'));
  symlinkSync(join(root, 'secret/file'), join(root, 'workspace/file-link'));
  const file = { mode: 0o644, owner: 'agent' } as const;
  await assert.rejects(client.writeFile(join(root, 'workspace/link/file'), 'x', file), refusedWith(409));
  await client.writeFile(join(root, 'workspace/file-link'), 'replaced', file);
  assert.equal(readFileSync(join(root, 'secret/file'), 'utf8'), 'untouched');
  assert.equal(readFileSync(join(root, 'workspace/file-link'), 'utf8'), 'replaced');
});

test('paths that are not plain absolute ones, folders, pipes and missing files are refused', async () => {
  const { root, client } = daemon;
  const file = { mode: 0o644, owner: 'agent' } as const;
  for (const path of ['etc/passwd', '', '/a/../b', '/a/./b', '/a\0b', `/${'a/'.repeat(3000)}b`]) {
    await assert.rejects(client.writeFile(path, 'x', file), refusedWith(400), path);
    await assert.rejects(client.readFile(path), refusedWith(400), path);
  }
  await assert.rejects(client.writeFile(join(root, 'workspace/'), 'x', file), refusedWith(400));
  await assert.rejects(client.writeFile(join(root, 'etc/lodge'), 'x', file), refusedWith(409));
  await assert.rejects(client.writeFile('/tmp/x', 'x', { mode: 0o4755, owner: 'root' }), refusedWith(400, /mode/));
  await assert.rejects(client.readFile(join(root, 'workspace')), refusedWith(409));
  await assert.rejects(client.readFile(join(root, 'nothing')), refusedWith(404));
  await client.exec({ argv: ['mkfifo', 'pipe'], timeoutMs: 5_000 });
  await assert.rejects(client.readFile(join(root, 'workspace/pipe')), refusedWith(409));
});

test('a file over the bound is refused and leaves nothing behind', async () => {
  const folder = join(daemon.root, 'workspace/bounded');
  const path = join(folder, 'f');
  const big = Buffer.alloc(maxFileBytes + 1);
  await assert.rejects(daemon.client.writeFile(path, big, { mode: 0o644, owner: 'agent' }), refusedWith(413));
  const query = new URLSearchParams({ path, mode: '644', owner: 'agent' });
  const request = httpRequest({ port: daemon.port, method: 'PUT', path: `/v1/files?${query.toString()}` });
  const answered = once(request, 'response') as Promise<[IncomingMessage]>;
  await pipeline(Readable.from(inMegabytes(big)), request);
  const [reply] = await answered;
  assert.equal(reply.statusCode, 413);
  reply.resume();
  assert.deepEqual(readdirSync(folder), []);
});

function* inMegabytes(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += 1024 * 1024) yield bytes.subarray(at, at + 1024 * 1024);
}

test('a refusal is heard also when much was sent with the request', async () => {
  const bytes = Buffer.alloc(30_000_000);
  for (let time = 0; time < 5; time += 1) {
    const writing = daemon.client.writeFile('relative', bytes, { mode: 0o644, owner: 'agent' });
    await assert.rejects(writing, refusedWith(400, /path must be absolute/));
  }
});
