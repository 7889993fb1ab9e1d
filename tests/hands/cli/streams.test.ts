/** Commands that stream: files, commands in the machine, shells, logs, events and usage. */
import assert from 'node:assert/strict';
import { mkdir, readFile, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { connect, createServer as createEcho } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { after, before, test } from 'node:test';
import { verifyWebhook } from '@lodge/sdk';
import { FakeHost } from '@lodge/vm/fake';
import { openWorld } from '../../e2e/api/world.ts';
import type { World } from '../../e2e/api/world.ts';
import { newPerson } from './command.ts';
import type { Person } from './command.ts';

let world: World;
let person: Person;
let id: string;
before(async () => {
  const host = new FakeHost();
  host.newAddress = () => '127.9.2.1';
  world = await openWorld({ host, withGuest: true });
  person = await newPerson({ LODGE_URL: world.url, LODGE_API_KEY: world.key });
  const made = await person.lodge(['agents', 'create', 'ada', '--json']);
  assert.equal(made.code, 0, made.stderr);
  id = JSON.parse(made.stdout).id;
});
after(() => Promise.all([world.close(), person.remove()]));

test('a command in the machine has its output, its exit code and its input', async () => {
  const both = await person.lodge(['exec', 'ada', 'echo out; echo err >&2; exit 3']);
  assert.deepEqual([both.code, both.stdout, both.stderr], [3, 'out\n', 'err\n']);
  const input = await person.lodge(['exec', id, '-i', '-e', 'A=b c', '--', 'sh', '-c', 'cat; echo "$A"'], {
    input: 'from here\n',
  });
  assert.deepEqual([input.code, input.stdout], [0, 'from here\nb c\n'], input.stderr);
  const told = await person.lodge(['exec', 'ada', '--json', '--', 'true']);
  assert.equal(JSON.parse(told.stdout.trim().split('\n').at(-1)!).data.exit_code, 0);
  const killed = await person.lodge(['exec', 'ada', 'kill -9 $$']);
  assert.equal(killed.code, 137);
});

test('Ctrl-C ends the command in the machine', async () => {
  const running = person.begin(['exec', 'ada', 'echo begun; sleep 300 & echo $!; wait']);
  await running.says(/begun\n\d+\n/);
  const pid = Number(running.stdout.trim().split('\n')[1]);
  running.kill('SIGINT');
  assert.equal((await running.ended()).code, 130);
  const until = Date.now() + 10_000;
  let state = '';
  do state = (await person.lodge(['exec', 'ada', `kill -0 ${pid} 2>/dev/null && echo alive || echo gone`])).stdout;
  while (state.includes('alive') && Date.now() < until);
  assert.equal(state, 'gone\n');
});

test('on a terminal the output of a command loses its control sequences', async () => {
  const screen = person.atTerminal(['exec', 'ada', "printf 'a\\033]0;title\\007b\\033[2Jc\\n'"]);
  const { stdout } = await screen.ended();
  assert.ok(stdout.includes('abc'), JSON.stringify(stdout));
  assert.ok(!stdout.includes('\x1b]0') && !stdout.includes('\x1b[2J'));
});

test('files and folders go both ways, and come back as they were', async () => {
  const folder = join(person.home, 'notes');
  await mkdir(join(folder, 'deep/er'), { recursive: true });
  const content = randomBytes(300_000);
  await writeFile(join(folder, 'deep/er/grüße.bin'), content);
  await writeFile(join(folder, 'plain.txt'), 'plain');
  await symlink('/etc/passwd', join(folder, 'link'));
  const up = await person.lodge(['cp', '-r', 'notes', 'ada:', '--json']);
  assert.equal(up.code, 0, up.stderr);
  assert.deepEqual(JSON.parse(up.stdout).skipped, ['link']);
  assert.equal((await person.lodge(['cp', 'notes', 'ada:'])).code, 2, 'a folder needs -r');
  const down = await person.lodge(['cp', '-r', 'ada:/workspace/notes', 'back']);
  assert.equal(down.code, 0, down.stderr);
  assert.deepEqual((await readdir(join(person.home, 'back'))).sort(), ['deep', 'plain.txt']);
  assert.ok((await readFile(join(person.home, 'back/deep/er/grüße.bin'))).equals(content));

  assert.equal((await person.lodge(['cp', '-', 'ada:notes/piped.txt'], { input: 'piped' })).code, 0);
  assert.equal((await person.lodge(['cp', 'ada:notes/piped.txt', '-'])).stdout, 'piped');
  const listed = await person.lodge(['files', 'list', 'ada', '-r']);
  for (const path of ['notes/', 'notes/deep/er/grüße.bin', 'notes/piped.txt'])
    assert.ok(listed.stdout.includes(`\t${path}\n`), listed.stdout);
  assert.equal((await person.lodge(['files', 'delete', 'ada', 'notes', '-r', '--yes'])).code, 0);
  const gone = await person.lodge(['cp', 'ada:notes/plain.txt', 'x']);
  assert.equal(gone.code, 4, gone.stderr);
  assert.ok(!(await readdir(person.home)).some((name) => name === 'x' || name.endsWith('.part')));
});

test('a shell opens on a terminal, and its exit code is the command', async () => {
  const running = person.atTerminal(['shell', 'ada']);
  await running.says(/[$#] /);
  running.write('echo si$((40 + 2))ze $(stty size); exit 7\n');
  const { code, stdout } = await running.ended();
  assert.equal(code, 7, stdout);
  assert.match(stdout, /si42ze 40 80/);
  assert.equal((await person.lodge(['shell', 'ada'])).code, 2, 'without a terminal');
});

test('logs and events are shown and followed, and usage is plotted', async () => {
  const following = person.begin(['events', '-f', '--agent', 'ada', '--json']);
  await following.says('agent.created');
  assert.equal((await person.lodge(['agents', 'pause', 'ada'])).code, 0);
  await following.says('agent.paused');
  following.kill('SIGINT');
  const { code, stdout } = await following.ended();
  assert.equal(code, 130);
  const ids = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).id);
  assert.equal(new Set(ids).size, ids.length);
  assert.match((await person.lodge(['logs', 'ada', '--source', 'system'])).stdout, /^\S+Z info +system /m);
  assert.match((await person.lodge(['audit'])).stdout, /agent/);
  const deleted = await person.lodge(['audit', '--action', 'agent.deleted', '--actor', 'operator']);
  assert.deepEqual([deleted.code, deleted.stdout], [0, ''], 'filters leave out the rest');
  const plotted = await person.lodge(['usage', 'ada', '--since', '2d', '--time-zone', 'UTC']);
  assert.match(plotted.stdout, /^\d{4}-\d\d-\d\d .*\$0.* 0 tokens$/m, plotted.stderr);
  assert.match((await person.lodge(['usage', '--csv'])).stdout, /^starting_at,/);
});

test('a local port leads to a port of the machine, and events reach a local receiver with a signature', async () => {
  const seen: { body: string; headers: IncomingHttpHeaders }[] = [];
  const receiver = createServer((request, reply) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      seen.push({ body, headers: request.headers });
      reply.end();
    });
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
  const key = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
  const args = ['webhooks', 'listen', '--forward', address, '--event', 'agent.*', '--secret', 'env:KEY', '--json'];
  const listening = person.begin(args, { env: { KEY: key } });
  await sleep(500);
  for (const verb of ['resume', 'pause']) assert.equal((await person.lodge(['agents', verb, 'ada'])).code, 0);
  await listening.says('agent.paused');
  listening.kill('SIGINT');
  await listening.ended();
  const { body, headers } = seen.at(-1)!;
  assert.equal((await verifyWebhook(body, headers, key)).type, 'agent.paused');
  receiver.close();

  const echo = createEcho((socket) => socket.pipe(socket)).listen(0, '0.0.0.0');
  await once(echo, 'listening');
  const { port } = echo.address() as AddressInfo;
  const forwarding = person.begin(['ports', 'forward', 'ada', `0:${port}`, '--json']);
  await forwarding.says('"local"');
  const { local } = JSON.parse(forwarding.stdout) as { local: number };
  const sent = randomBytes(3_000_000);
  const socket = connect(local, '127.0.0.1');
  const received = buffer(socket);
  socket.end(sent);
  const got = await received.catch((error: Error) => Buffer.from(`${error.message} ${forwarding.stderr}`));
  assert.ok(got.equals(sent), got.subarray(0, 500).toString());
  echo.close();
  forwarding.kill('SIGINT');
  const ended = await forwarding.ended();
  assert.deepEqual([ended.code, ended.stderr.replace('Interrupted.\n', '')], [130, '']);
  assert.equal((await person.lodge(['ports', 'forward', 'ada', '70000'])).code, 2);
});
