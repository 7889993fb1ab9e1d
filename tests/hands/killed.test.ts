/**
 * The server is killed with kill -9 and started again, in the midst of all that the command line and the SDK do: what can go on
 * goes on, and the rest ends with an error and was done once.
 */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { after, before, test } from 'node:test';
import { ConnectionError, Lodge } from '@lodge/sdk';
import { downloadFile, uploadFile } from '@lodge/sdk/node';
import { isLongRun } from '@lodge/testkit/forms';
import { isAlive } from '../../apps/guestd/src/testing.ts';
import { newPerson } from './cli/command.ts';
import type { Person } from './cli/command.ts';
import { KillableServer } from './killed/place.ts';

const mib = 1024 * 1024;
/** More than one request may have, so that it goes in parts. */
const size = (isLongRun ? 1024 : 68) * mib;
const patientMs = 60_000;
let server: KillableServer;
let person: Person;
let workspace: string;
let lodge: Lodge;
let id: string;
/** Ends what a test that failed has begun. */
const stop = new AbortController();
const { signal } = stop;
before(async () => {
  server = await KillableServer.open();
  workspace = join(server.guest.root, 'workspace');
  person = await newPerson({ LODGE_URL: server.url, LODGE_API_KEY: server.key });
  lodge = new Lodge({ baseUrl: server.url, apiKey: server.key });
  ({ id } = await lodge.agents.create({ name: 'ada' }));
  await lodge.agents.waitUntil(id, 'running');
});
after(async () => {
  stop.abort();
  await person.remove();
  await server.close();
});

test('commands', async () => {
  const large = join(person.home, 'large.bin');
  const digest = await writeRandom(large);
  await mkdir(join(person.home, 'site'));
  await writeFile(join(person.home, 'site/index.html'), 'one');
  const asked = server.turns.asked;
  const logs = person.begin(['logs', 'ada', '-f', '-n', '1', '--json']);
  const waiting = person.begin(['logs', 'ada', '-f', '-n', '1', '--json']);
  const sync = person.begin(['sync', 'ada', 'site', 'site', '--json']);
  const chat = person.begin(['chat', 'ada', '-m', 'Speak on.']);
  const exec = person.begin(['exec', 'ada', 'echo x >> once; echo $$; while sleep 0.05; do echo x; done']);
  await Promise.all([
    logs.says('"id"'),
    waiting.says('"id"'),
    sync.says('"watching"'),
    chat.says('word'),
    exec.says('x\n'),
  ]);
  const up = person.begin(['cp', 'large.bin', 'ada:large.bin']);
  await until(async () => (await bytesIn(join(server.guest.root, 'var/lib/lodge/uploads'))) > size / 3);

  await server.kill();
  await writeFile(join(person.home, 'site/index.html'), 'two');
  const [said, printed] = await Promise.all([chat.ended(), exec.ended()]);
  assert.deepEqual([said.code, printed.code], [7, 7], said.stderr + printed.stderr);
  await until(() => server.turns.open === 0);
  await until(() => !isAlive(Number(printed.stdout.split('\n')[0])));
  // It has begun to wait for the server.
  await sleep(700);
  waiting.kill('SIGINT');
  assert.equal((await waiting.ended()).code, 130);
  await server.start();

  const sent = await up.ended();
  assert.equal(sent.code, 0, sent.stderr);
  assert.equal(await digestOf(join(workspace, 'large.bin')), digest);
  await until(async () => (await readFile(join(workspace, 'site/index.html'), 'utf8')) === 'two');
  await lodge.agents.pause(id);
  await lodge.agents.resume(id);
  const all = (await lodge.agents.logs(id, { limit: 100 })).data.map((each) => each.id).toReversed();
  await logs.says(`"id":"${all.at(-1)}"`);
  for (const each of [logs, sync]) {
    each.kill('SIGINT');
    assert.equal((await each.ended()).code, 130);
  }
  const followed = logs.stdout
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { id: string }).id);
  assert.deepEqual(followed, all.slice(all.indexOf(followed[0]!)));
  assert.equal(server.turns.asked, asked + 1);
  assert.equal(await readFile(join(workspace, 'once'), 'utf8'), 'x\n');
});

test('calls of the SDK, and a download of the command line', async () => {
  const [large, back] = [join(person.home, 'large.bin'), join(person.home, 'back.bin')];
  const [events, logs, said, printed]: [string[], string[], string[], string[]] = [[], [], [], []];
  const follows = [
    collect(lodge.events.follow({ agent_id: id, limit: 1 }, { signal }), (each) => events.push(each.id)),
    collect(lodge.agents.followLogs(id, { limit: 1 }, { signal }), (each) => logs.push(each.id)),
  ];
  const asked = server.turns.asked;
  const messages = [{ role: 'user', content: 'Speak on.' }];
  const command = 'echo x >> often; while sleep 0.05; do echo x; done';
  const broken = [
    collect(lodge.chat.stream(id, { messages }, { signal }), () => said.push('')),
    collect(lodge.exec.stream(id, { command }, { signal }), () => printed.push('')),
    lodge.chat.create(id, { messages }, { signal }).catch((error: unknown) => error),
    lodge.exec.run(id, { command }, { signal }).catch((error: unknown) => error),
  ];
  const often = (): Promise<string> => readFile(join(workspace, 'often'), 'utf8').catch(() => '');
  await until(() => events.length > 0 && logs.length > 0 && said.length > 0 && printed.length > 0);
  await until(async () => server.turns.open === 2 && (await often()) === 'x\nx\n');
  const down = person.begin(['cp', 'ada:large.bin', 'back.bin']);
  const again = join(person.home, 'again.bin');
  const downloaded = downloadFile(lodge, id, 'large.bin', again, { signal });
  const uploaded = uploadFile(lodge, id, large, 'second.bin', { signal });
  const parts = [/^\.back\.bin\..*\.part$/, /^\.again\.bin\..*\.part$/];
  for (const part of parts) await until(async () => (await bytesIn(person.home, part)) > size / 8);

  await server.kill();
  for (const each of broken) assert.ok((await each) instanceof ConnectionError);
  await until(() => server.turns.open === 0);
  await server.start();

  const got = await down.ended();
  assert.equal(got.code, 0, got.stderr);
  await downloaded;
  assert.equal((await uploaded).size, size);
  const digest = await digestOf(large);
  for (const path of [back, again, join(workspace, 'second.bin')]) assert.equal(await digestOf(path), digest, path);
  await lodge.agents.pause(id);
  await lodge.agents.resume(id);
  const allEvents = (await lodge.events.list({ agent_id: id, limit: 100 })).data.map((each) => each.id).toReversed();
  const allLogs = (await lodge.agents.logs(id, { limit: 100 })).data.map((each) => each.id).toReversed();
  await until(() => events.at(-1) === allEvents.at(-1) && logs.at(-1) === allLogs.at(-1));
  assert.deepEqual(events, allEvents.slice(allEvents.indexOf(events[0]!)));
  assert.deepEqual(logs, allLogs.slice(allLogs.indexOf(logs[0]!)));
  stop.abort();
  for (const each of follows) assert.equal(((await each) as Error).name, 'AbortError');
  assert.equal(server.turns.asked, asked + 2);
  assert.equal(await often(), 'x\nx\n');
});

/** Resolves to the error that ends it; null if it ends by itself. */
async function collect<T>(each: AsyncIterable<T>, take: (value: T) => void): Promise<unknown> {
  try {
    for await (const value of each) take(value);
    return null;
  } catch (error) {
    return error;
  }
}

async function writeRandom(path: string): Promise<string> {
  const file = createWriteStream(path);
  const piece = randomBytes(mib);
  for (let at = 0; at < size; at += mib) {
    piece.writeUInt32BE(at / mib);
    if (!file.write(Buffer.from(piece))) await new Promise<void>((resolve) => file.once('drain', () => resolve()));
  }
  await new Promise<void>((resolve) => file.end(() => resolve()));
  return digestOf(path);
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
}

/** Bytes of the files of a folder that are there. */
async function bytesIn(folder: string, which = /^/): Promise<number> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => which.test(name));
  const sizes = names.map((name) =>
    stat(join(folder, name)).then(
      (file) => file.size,
      () => 0,
    ),
  );
  return (await Promise.all(sizes)).reduce((sum, each) => sum + each, 0);
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + patientMs;
  while (!(await isSo())) {
    assert.ok(Date.now() < end, `in time: ${String(isSo)}`);
    await sleep(5);
  }
}
