/** The server goes away in the midst of commands: nothing is lost, doubled, or hangs. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { after, before, test } from 'node:test';
import { FaultyProxy } from '@lodge/testkit/faulty-proxy';
import { isLongRun } from '@lodge/testkit/forms';
import { openWorld } from '../../e2e/api/world.ts';
import type { World } from '../../e2e/api/world.ts';
import { newPerson } from './command.ts';
import type { Person } from './command.ts';

const mib = 1024 * 1024;
let world: World;
let proxy: FaultyProxy;
let person: Person;
let workspace: string;
before(async () => {
  world = await openWorld({ withGuest: true });
  proxy = await FaultyProxy.start(world.url);
  person = await newPerson({ LODGE_URL: proxy.url, LODGE_API_KEY: world.key });
  workspace = join(world.guest!.root, 'workspace');
  const made = await person.lodge(['agents', 'create', 'ada']);
  assert.equal(made.code, 0, made.stderr);
});
after(() => Promise.all([proxy.close(), world.close(), person.remove()]));

async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
}

test('a large file is copied whole both ways, though the server goes away and parts are cut', async () => {
  const size = (isLongRun ? 1024 : 80) * mib;
  const path = join(person.home, 'large.bin');
  const file = createWriteStream(path);
  const piece = randomBytes(mib);
  for (let at = 0; at < size; at += mib) {
    piece.writeUInt32BE(at / mib);
    if (!file.write(Buffer.from(piece))) await new Promise<void>((resolve) => file.once('drain', () => resolve()));
  }
  await new Promise<void>((resolve) => file.end(() => resolve()));
  const digest = await digestOf(path);

  proxy.fail(
    { method: 'PATCH', path: '/uploads/', fault: { kind: 'cut_upload', bytes: 5 * mib } },
    { method: 'PATCH', path: '/uploads/', after: 1, fault: { kind: 'cut_after' } },
  );
  const up = person.begin(['cp', 'large.bin', 'ada:data/large.bin']);
  while (!proxy.requests.some(({ method }) => method === 'PATCH')) await sleep(20);
  await proxy.down();
  await sleep(300);
  await proxy.up();
  const sent = await up.ended();
  assert.equal(sent.code, 0, sent.stderr);
  assert.equal(await digestOf(join(workspace, 'data/large.bin')), digest);

  proxy.fail({ method: 'GET', path: '/files/data/large.bin', fault: { kind: 'cut_body', bytes: 20 * mib } });
  const down = await person.lodge(['cp', 'ada:data/large.bin', 'back.bin']);
  assert.equal(down.code, 0, down.stderr);
  assert.equal(await digestOf(join(person.home, 'back.bin')), digest);
});

test('Ctrl-C in the midst of an upload leaves nothing under its name, and the next one goes on', async () => {
  const before = proxy.requests.length;
  const up = person.begin(['cp', 'large.bin', 'ada:again.bin']);
  while (!proxy.requests.slice(before).some(({ method }) => method === 'PATCH')) await sleep(10);
  up.kill('SIGINT');
  assert.equal((await up.ended()).code, 130);
  await assert.rejects(stat(join(workspace, 'again.bin')), { code: 'ENOENT' });
});

test('followed events go on where they were', async () => {
  const following = person.begin(['events', '-f', '--agent', 'ada', '--json']);
  await following.says('agent.created');
  proxy.cut();
  assert.equal((await person.lodge(['agents', 'pause', 'ada'])).code, 0);
  await following.says('agent.paused');
  await proxy.down();
  await proxy.up();
  assert.equal((await person.lodge(['agents', 'resume', 'ada'])).code, 0);
  await following.says('agent.resumed');
  following.kill('SIGINT');
  const { stdout } = await following.ended();
  const ids = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).id);
  assert.equal(new Set(ids).size, ids.length);
});

test('a command whose connection is cut ends, and says so', async () => {
  const running = person.begin(['exec', 'ada', 'echo begun; sleep 60']);
  await running.says('begun');
  proxy.cut();
  const { code, stderr } = await running.ended();
  assert.equal(code, 7, stderr);
});

test('a sync writes what differs, follows changes over a restart, and never over a change of somebody else', async () => {
  const folder = join(person.home, 'site');
  await mkdir(join(folder, 'css'), { recursive: true });
  await writeFile(join(folder, '.gitignore'), 'secret.txt\n');
  for (const [name, text] of [
    ['index.html', 'one'],
    ['css/a.css', 'a'],
    ['secret.txt', 'no'],
  ] as const)
    await writeFile(join(folder, name), text);
  const running = person.begin(['sync', 'ada', 'site', 'site', '--json']);
  await running.says('"watching"');
  assert.equal(await readFile(join(workspace, 'site/css/a.css'), 'utf8'), 'a');
  await assert.rejects(stat(join(workspace, 'site/secret.txt')), { code: 'ENOENT' });

  await proxy.down();
  await writeFile(join(folder, 'index.html'), 'two');
  await running.says('"stale"');
  await proxy.up();
  await running.says('"resumed"');
  await running.says(/"written","path":"index.html".*\n[^]*"written","path":"index.html"/);
  assert.equal(await readFile(join(workspace, 'site/index.html'), 'utf8'), 'two');

  // The reply to a write is lost.
  proxy.fail({ method: 'PUT', path: '/files/', fault: { kind: 'cut_after' } });
  await writeFile(join(folder, 'index.html'), 'two and a half');
  await running.says(/(?:"written","path":"index.html"[^]*){3}/);
  assert.equal(await readFile(join(workspace, 'site/index.html'), 'utf8'), 'two and a half');
  assert.ok(!running.stdout.includes('"conflict"'), running.stdout);

  await writeFile(join(workspace, 'site/index.html'), "the agent's");
  await writeFile(join(folder, 'index.html'), 'three');
  await running.says('"conflict"');
  assert.equal(await readFile(join(workspace, 'site/index.html'), 'utf8'), "the agent's");
  running.kill('SIGINT');
  assert.equal((await running.ended()).code, 130);

  const once = await person.lodge(['sync', 'ada', 'site', 'site', '--once']);
  assert.equal(once.code, 5, once.stderr);
  const forced = await person.lodge(['sync', 'ada', 'site', 'site', '--once', '--force']);
  assert.equal(forced.code, 0, forced.stderr);
  assert.equal(await readFile(join(workspace, 'site/index.html'), 'utf8'), 'three');
});
