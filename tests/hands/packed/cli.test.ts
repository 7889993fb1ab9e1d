/**
 * The packed command line, installed into an empty folder, against the real API: on the host's own Node. The long form has Node
 * 20, 22 and 24, Bun and Deno.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { connect, createServer as createEcho } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { isLongRun } from '@lodge/testkit/forms';
import { FakeHost } from '@lodge/vm/fake';
import { packCommand } from '../../../scripts/cli/pack.ts';
import { openWorld } from '../../e2e/api/world.ts';
import type { World } from '../../e2e/api/world.ts';
import { newPerson } from '../cli/command.ts';
import type { Person } from '../cli/command.ts';
import { Place, bun, deno, hostNode, nodes } from './engines.ts';

const sent = randomBytes(300_000);
const providerKey = 'sk-ant-1';
let world: World;
let place: Place;
before(async () => {
  const host = new FakeHost();
  host.newAddress = () => '127.9.4.1';
  world = await openWorld({ host, withGuest: true });
  place = await Place.open();
  const tarballs = join(place.folder, 'tarballs');
  await mkdir(tarballs);
  place.install(await packCommand(tarballs));
});
after(() => Promise.all([world?.close(), place?.close()]));

test('npm makes it a command', async () => {
  const { stdout } = await promisify(execFile)(join(place.folder, 'node_modules/.bin/lodge'), ['--version']);
  assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
});

test('it works on the Node of the host', () => works(hostNode));

for (const engine of isLongRun ? [...nodes, bun, deno] : [])
  test(`it works on ${engine.name}`, async () => works(await place.engine(engine)));

/** A person of their own signs in, and does what a newcomer does. */
async function works(engine: readonly string[]): Promise<void> {
  const program = join(place.folder, 'node_modules/lodge-cli/dist/main.js');
  // The keyring is tried: there is none in this home.
  const person = await newPerson({ LODGE_KEYRING: '' }, [...engine, program]);
  try {
    await signsIn(person);
    await keepsFiles(person);
    await runsPrograms(person);
    await follows(person);
    await appliesFiles(person);
    assert.match(await said(person, ['agents', 'delete', 'ada', '--yes']), /^Deleted ada /);
    await said(person, ['logout']);
    assert.equal((await person.lodge(['account'])).code, 3);
  } finally {
    await person.remove();
  }
}

async function said(person: Person, args: readonly string[], input = ''): Promise<string> {
  const { code, stdout, stderr } = await person.lodge(args, { input });
  assert.equal(code, 0, `lodge ${args.join(' ')}: ${code}\n${stdout}${stderr}`);
  return stdout;
}

async function signsIn(person: Person): Promise<void> {
  assert.match(await said(person, ['--version']), /^\d+\.\d+\.\d+\n$/);
  assert.match(await said(person, ['help', 'agents', 'create']), /Examples:/);
  await said(person, ['login', '--with-key', world.url], `${world.key}\n`);
  const made = [
    'agents',
    'create',
    'ada',
    '--model',
    'anthropic/claude-sonnet-5',
    '--llm-key',
    'anthropic=-',
    '--json',
  ];
  assert.equal(JSON.parse(await said(person, made, `${providerKey}\n`)).status, 'running');
  assert.match(await said(person, ['agents', 'list']), /\tada\trunning\t/);
  assert.match(await said(person, ['chat', 'ada', '-m', 'Say a fruit']), /plum/);
}

async function keepsFiles(person: Person): Promise<void> {
  await mkdir(join(person.home, 'notes/deep'), { recursive: true });
  for (const name of ['notes/a.txt', 'notes/deep/ä.txt']) await writeFile(join(person.home, name), name);
  await said(person, ['cp', '-r', 'notes', 'ada:']);
  await said(person, ['cp', '-r', 'ada:notes', 'back']);
  assert.equal(await readFile(join(person.home, 'back/deep/ä.txt'), 'utf8'), 'notes/deep/ä.txt');
  await said(person, ['cp', '-', 'ada:piped.txt'], 'piped');
  assert.equal(await said(person, ['cp', 'ada:piped.txt', '-']), 'piped');
  await said(person, ['sync', 'ada', 'notes', 'synced', '--once']);
  assert.match(await said(person, ['files', 'list', 'ada', '-r']), /\tsynced\/deep\/ä\.txt\n/);
}

async function runsPrograms(person: Person): Promise<void> {
  const both = await person.lodge(['exec', 'ada', 'echo out; echo err >&2; exit 3']);
  assert.deepEqual([both.code, both.stdout, both.stderr], [3, 'out\n', 'err\n']);
  assert.equal(await said(person, ['exec', 'ada', '-i', '--', 'cat'], 'from here\n'), 'from here\n');
  const shell = person.atTerminal(['shell', 'ada']);
  await shell.says(/[$#] /);
  shell.write('echo si$((40 + 2))ze $(stty size); exit 7\n');
  const { code, stdout } = await shell.ended();
  assert.equal(code, 7, stdout);
  assert.match(stdout, /si42ze 40 80/);
  const echo = createEcho((socket) => socket.pipe(socket)).listen(0, '0.0.0.0');
  await once(echo, 'listening');
  const forwarding = person.begin(['ports', 'forward', 'ada', `0:${(echo.address() as AddressInfo).port}`, '--json']);
  await forwarding.says('"local"');
  const socket = connect((JSON.parse(forwarding.stdout) as { local: number }).local, '127.0.0.1');
  socket.end(sent);
  assert.ok((await buffer(socket)).equals(sent), forwarding.stderr);
  echo.close();
  forwarding.kill('SIGINT');
  assert.equal((await forwarding.ended()).code, 130);
}

async function follows(person: Person): Promise<void> {
  const following = person.begin(['events', '-f', '--agent', 'ada', '--json']);
  await following.says('agent.created');
  await said(person, ['agents', 'stop', 'ada']);
  await following.says('agent.stopped');
  following.kill('SIGINT');
  assert.equal((await following.ended()).code, 130);
  await said(person, ['agents', 'start', 'ada']);
  assert.match(await said(person, ['logs', 'ada', '--source', 'system']), / info +system /);
}

async function appliesFiles(person: Person): Promise<void> {
  await writeFile(join(person.home, 'agents.yaml'), await said(person, ['export', 'ada']));
  const plan = await person.lodge(['apply', '-f', 'agents.yaml', '--plan'], { env: { ADA_ANTHROPIC: providerKey } });
  assert.equal(plan.code, 0, plan.stdout + plan.stderr);
}
