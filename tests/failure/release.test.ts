/**
 * `upgrade` of a Lodge from one commit to another, in a checkout of its own that follows a bare repository, with an agent that
 * runs all the while in one and the same process. The guarantees: what comes up stays; what does not is gone without a trace,
 * rows that its migrations took away included; a kill at any step is found, and said, by the next upgrade or the next start.
 */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { isLongRun } from '@lodge/testkit/forms';
import { guestClientOf } from '@lodge/testkit/guest';
import { Service } from '@lodge/testkit/service';
import { Client } from 'pg';
import { lockHolder } from '../../apps/server/src/host/instance-lock.ts';
import { freePort, git, Said, systemctl } from './release-commands.ts';

const run = promisify(execFile);
const project = new URL('../../', import.meta.url).pathname;
const migrations = 'packages/store/src/database/migrations';
const entry = 'tests/failure/lodge-with-bare-guests.ts';
const cli = 'apps/server/src/cli/main.ts';
const minuteMs = 60_000;
const inLongForm = { timeout: 60 * minuteMs, skip: !isLongRun };
const inMemory = '/dev/shm/thought';
const runsHere = 'It runs in this terminal now';

let place: string;
/** Where releases are made, and where Lodge runs from. */
let releases: string;
let checkout: string;
let service: Service;
let agent: string;
let emulator: number;
const commands: ChildProcess[] = [];

before(
  async () => {
    place = await mkdtemp(join(tmpdir(), 'lodge-release-'));
    await run('chmod', ['711', place]);
    [releases, checkout] = [join(place, 'releases'), join(place, 'lodge')];
    const outside = new Set(['node_modules', '.git', '.upgrade'].map((name) => join(project, name)));
    await cp(project, releases, { recursive: true, verbatimSymlinks: true, filter: (path) => !outside.has(path) });
    const start = join(releases, 'scripts/start.sh');
    const script = (await readFile(start, 'utf8')).replace('apps/server/src/main.ts', entry);
    // Nobody reads the documents here, and a build would go on in a folder that is removed.
    await writeFile(start, script.replace(/^.*build-docs.*\n/m, ''));
    const origin = join(place, 'origin.git');
    await git(place, 'init', '--quiet', '--bare', '--initial-branch=main', origin);
    await git(releases, 'init', '--quiet', '--initial-branch=main');
    await git(releases, 'remote', 'add', 'origin', origin);
    await release('first');
    await git(place, 'clone', '--quiet', origin, checkout);
    // Hard links suffice, because nothing writes into packages. They do not reach another file system or mount.
    const [from, to] = [project, checkout].map((folder) => join(folder, 'node_modules')) as [string, string];
    await run('cp', ['-al', from, to]).catch(async () => {
      await rm(to, { recursive: true, force: true });
      await run('cp', ['-a', from, to]);
    });
    const env = { LODGE_PORT: String(await freePort()), NODE_COMPILE_CACHE: join(place, 'compiled') };
    service = await Service.start({ entry: pathToFileURL(join(checkout, entry)), env });
    await service.awaitTemplate(10 * minuteMs);
    agent = await makeAgent('Goes on');
    const guest = await guestClientOf(service.dataDir, agent);
    await guest.writeFile(inMemory, 'whole', { mode: 0o644, owner: 'root' });
    emulator = await emulatorPid();
  },
  { timeout: 20 * minuteMs },
);
after(async () => {
  // The release knows the migrations that exist now.
  if (service) await run(join(checkout, 'node_modules/.bin/node'), [join(checkout, cli), 'down'], { env: service.env });
  for (const child of commands) if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
  await service?.destroy();
  await rm(place, { recursive: true, force: true, maxRetries: 3 });
});

/** Commits what is in the folder of releases, with these migrations more, and publishes it. */
async function release(subject: string, ...more: string[]): Promise<string> {
  for (const sql of more) {
    const number = String((await readdir(join(releases, migrations))).length + 1).padStart(4, '0');
    await writeFile(join(releases, migrations, `${number}_of_a_test.sql`), sql);
  }
  await git(releases, 'add', '--all');
  await git(releases, 'commit', '--quiet', '--allow-empty', '--message', subject);
  await git(releases, 'push', '--quiet', '--force', 'origin', 'main');
  return git(releases, 'rev-parse', 'HEAD');
}

/** Takes back the commits that were published after this one. */
async function withdrawTo(commit: string): Promise<void> {
  await git(releases, 'reset', '--quiet', '--hard', commit);
}

const head = (): Promise<string> => git(checkout, 'rev-parse', 'HEAD');

async function makeAgent(name: string): Promise<string> {
  const { status, body } = await service.call('POST', '/agents', {
    name,
    size: 'small',
    lifecycle: { idle_timeout_seconds: 0 },
  });
  assert.equal(status, 201, JSON.stringify(body));
  return body.id as string;
}

async function emulatorPid(): Promise<number> {
  const text = await readFile(join(service.dataDir, 'vms', agent, 'vm.json'), 'utf8');
  return (JSON.parse(text) as { process: { pid: number } }).process.pid;
}

function watched(child: ChildProcess): Said {
  commands.push(child);
  return new Said(child);
}

/** Starts `upgrade`, by default with the settings of Lodge. */
function start(args: readonly string[] = [], env: NodeJS.ProcessEnv = service.env): Said {
  const command = [join(checkout, cli), 'upgrade', '--timeout', '900', ...args];
  const node = join(checkout, 'node_modules/.bin/node');
  return watched(spawn(node, command, { env, stdio: ['ignore', 'pipe', 'pipe'] }));
}

/** Resolves when the command has ended, or when Lodge runs as its child. */
const upgrade = (...args: string[]): Promise<Said> => start(args).until(runsHere);

/** Runs `npm start` until the API answers or the command has ended. */
function npmStart(): Promise<Said> {
  const options = { env: service.env, stdio: ['ignore', 'pipe', 'pipe'] as ['ignore', 'pipe', 'pipe'] };
  return watched(spawn('bash', [join(checkout, 'scripts/start.sh')], options)).until('  API  ');
}

/** Ends Lodge, by default as a loss of power does; agents go on. */
async function endLodge(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  const holder = await lockHolder(service.dataDir);
  if (holder === null) return;
  process.kill(holder.pid, signal);
  while ((await lockHolder(service.dataDir)) !== null) await sleep(20);
}

/** Asserts that the API answers, and that the agent's machine is still the same process. */
async function agentWentOn(): Promise<void> {
  const deadline = Date.now() + 10 * minuteMs;
  let status = '';
  while (status !== 'running') {
    assert.ok(Date.now() < deadline, status);
    const reply = await service.call('GET', `/agents/${agent}`).catch((error: Error) => error);
    status = reply instanceof Error ? reply.message : String(reply.body.status ?? JSON.stringify(reply.body));
    if (status !== 'running') await sleep(200);
  }
  assert.equal(await emulatorPid(), emulator);
  const guest = await guestClientOf(service.dataDir, agent);
  assert.equal(Buffer.from(await guest.readFile(inMemory)).toString(), 'whole');
}

async function assertNothingLeft(copies: readonly string[]): Promise<void> {
  assert.deepEqual(
    (await readdir(join(checkout, '.upgrade'))).filter((name) => name !== 'before.json'),
    [],
  );
  assert.deepEqual(await readdir(join(service.dataDir, 'before-upgrade')).catch(() => []), copies);
}

async function table(name: string): Promise<string | null> {
  const client = new Client({ connectionString: service.databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ found: string | null }>('select to_regclass($1)::text as found', [name]);
    return rows[0]!.found;
  } finally {
    await client.end();
  }
}

test('what cannot be is refused with a sentence, and Lodge runs on', inLongForm, async () => {
  const present = await head();
  const pid = service.pid;
  const cases: [string[], number, RegExp][] = [
    [[], 0, /is checked out already/],
    [['--to', 'v9'], 1, /There is no tag, branch or commit v9\./],
    [['--to', '--upload-pack=x'], 2, /--to/],
    [['--to', 'a b'], 1, /--to names a tag/],
    [['--back'], 1, /no way back is known/],
    [['--back', '--to', 'main'], 1, /not both/],
    [['--timeout', '0'], 1, /--timeout is a number of seconds/],
    [['--checkout', place], 1, /is no checkout of Lodge's repository/],
    [['here'], 2, /here/],
  ];
  for (const [args, code, words] of cases) {
    const said = await upgrade(...args);
    assert.equal(said.code, code, said.text);
    assert.match(said.text, words);
    assert.doesNotMatch(said.text, /^\s+at /m);
  }
  for (const broken of ['apps/server/src/cli/main.ts', 'apps/server/src/cli/upgrade/upgrade.ts', 'package-lock.json']) {
    await writeFile(join(releases, broken), '}');
    await release('does not load');
    const said = await upgrade();
    assert.equal(said.code, 1, said.text);
    assert.match(said.text, /does not come up\..*failed[^]*Nothing was changed/, said.text);
    await withdrawTo(present);
  }
  assert.equal(await head(), present);
  assert.equal(service.pid, pid);
  await assertNothingLeft([]);
  await agentWentOn();
});

test('a release that comes up stays, with its migration', { timeout: 30 * minuteMs }, async (t) => {
  const present = await head();
  const next = await release('second', 'create table of_the_second (n integer);');
  await writeFile(join(checkout, 'README.md'), 'changed by hand');
  const dirty = await upgrade();
  assert.match(dirty.text, /not committed \(M README\.md\)/, dirty.text);
  await git(checkout, 'checkout', '--quiet', 'README.md');
  assert.equal(await head(), present);
  const began = performance.now();
  const said = await upgrade();
  t.diagnostic(`${Math.round(performance.now() - began)} ms; ${said.text}`);
  assert.equal(said.code, null, said.text);
  assert.equal(await head(), next);
  await agentWentOn();
  assert.equal(await table('of_the_second'), 'of_the_second');
  await assertNothingLeft([present]);
  const copy = join(service.dataDir, 'before-upgrade', present);
  assert.equal((await stat(copy)).mode & 0o777, 0o700);
  for (const name of ['facts.json', '0']) assert.equal((await stat(join(copy, name))).mode & 0o777, 0o600, name);
});

test(
  'one whose migration fails is taken back, and so are migrations before it',
  { timeout: 30 * minuteMs },
  async (t) => {
    const present = await head();
    await release(
      'third',
      'create table of_the_third (n integer); drop table of_the_second; truncate agents cascade;',
      'select 1 / (select count(*) from agents);',
    );
    const began = performance.now();
    const said = await upgrade();
    t.diagnostic(`${Math.round(performance.now() - began)} ms; ${said.text}`);
    assert.equal(said.code, null, said.text);
    assert.match(said.text, /division by zero/);
    assert.equal(await head(), present);
    await agentWentOn();
    assert.deepEqual([await table('of_the_third'), await table('of_the_second')], [null, 'of_the_second']);
    await withdrawTo(present);
    // Lodge ran before, so it runs again. The command goes on with it, and ends with a failure all the same.
    said.child.kill('SIGTERM');
    await said.until('never said');
    assert.equal(said.code, 1, said.text);
    if (isLongRun) await service.up();
  },
);

test('one that does not start, or does not answer in time, is taken back; the database stays', inLongForm, async () => {
  const present = await head();
  const since = await makeAgent('Made before it');
  for (const [text, seconds, words] of [
    ['throw new Error("no such luck");', '900', /no such luck[^]*It ended/],
    ['setInterval(() => {}, 1_000);', '20', /did not answer within 20 s/],
  ] as const) {
    await writeFile(join(releases, entry), text);
    await release('does not start');
    const said = await upgrade('--timeout', seconds);
    assert.match(said.text, words);
    assert.match(said.text, /does not come up[^]*Back at \w+\. Agents went on/);
    assert.equal(await head(), present);
    await agentWentOn();
    await withdrawTo(present);
  }
  assert.equal((await service.call('GET', `/agents/${since}`)).body.status, 'running');
});

/** Kills the command as soon as it says that. */
async function killedAt(words: string): Promise<void> {
  const said = await start().until(words);
  assert.equal(said.code, null, said.text);
  said.child.kill('SIGKILL');
  await once(said.child, 'exit');
}

for (const next of ['upgrade', 'npm start'] as const) {
  test(`an upgrade that is killed at any step is found by the next ${next}`, inLongForm, async (t) => {
    const recover = async (): Promise<string> => {
      const said = next === 'upgrade' ? await upgrade() : await npmStart();
      t.diagnostic(said.text);
      await agentWentOn();
      return said.text;
    };
    const present = await head();
    for (const words of ['checking it out beside', 'Copying its database']) {
      await release('killed before', 'truncate agents cascade;');
      await killedAt(words);
      if (next === 'npm start') await endLodge();
      assert.match(await recover(), /was cut off/);
      assert.equal(await head(), present);
      await withdrawTo(present);
    }
    await release('killed while it goes back', 'truncate agents cascade;', 'select nothing();');
    await killedAt('Putting the database back');
    assert.match(await recover(), /was cut off/);
    assert.equal(await head(), present);
    await withdrawTo(present);

    if (next === 'upgrade') {
      await writeFile(join(releases, entry), 'throw new Error("no such luck");');
      await release('killed while it is tried in vain', 'truncate agents cascade;');
      await killedAt('Starting it');
      const asked = await upgrade();
      assert.equal(asked.code, 1, asked.text);
      assert.match(asked.text, /no such luck[^]*what was written since is lost\. upgrade --lose-newer goes back/);
      assert.match((await upgrade('--lose-newer')).text, /Back at/);
      assert.equal(await head(), present);
      await agentWentOn();
      await withdrawTo(present);
    }
    const name = `of_${next.replace(' ', '_')}`;
    const tried = await release('killed while it is tried', `create table ${name} (n integer);`);
    await killedAt('Starting it');
    if (next === 'npm start') await endLodge();
    assert.match(await recover(), /was cut off/);
    assert.equal(await head(), tried);
    assert.equal(await table(name), name);
    if (next === 'npm start') assert.match((await upgrade()).text, /was cut off[^]*Lodge is at/);
    await assertNothingLeft([present]);
  });
}

test('upgrade --back loses nothing without a migration, and says what it loses with one', inLongForm, async () => {
  const first = await head();
  const second = await release('nothing new');
  assert.match((await upgrade()).text, /Lodge is at/);
  await makeAgent('Made since');
  assert.match((await upgrade('--back')).text, /it stays, and nothing is lost/);
  assert.equal(await head(), first);
  await agentWentOn();
  assert.match((await upgrade('--to', second)).text, /Lodge is at/);
  await release('with a migration', 'create table of_the_last (n integer);');
  assert.match((await upgrade()).text, /Lodge is at/);
  const lost = await makeAgent('Lost');
  const asked = await upgrade('--back');
  assert.equal(asked.code, 1, asked.text);
  assert.match(asked.text, /what was written since is lost[^]*1 agents? made since then: "Lost"[^]*Nothing was done/);
  assert.match((await upgrade('--back', '--lose-newer')).text, /Lodge is at/);
  assert.equal(await head(), second);
  await agentWentOn();
  assert.equal(await table('of_the_last'), null);
  assert.equal((await service.call('GET', `/agents/${lost}`)).status, 404);
  assert.deepEqual(
    (await service.call('GET', '/agents')).body.data.map((one: { name: string }) => one.name).toSorted(),
    ['Goes on', 'Made before it', 'Made since'],
  );
});

test('a service is ended and started by systemctl, and tells its settings', inLongForm, async () => {
  await endLodge('SIGTERM');
  const folder = join(place, 'systemd');
  await mkdir(folder);
  const own = Object.entries(service.env).filter(([name]) => /^(LODGE_|NODE_|TESTS_)/.test(name));
  await writeFile(join(folder, 'settings'), own.map(([name, value]) => `export ${name}='${value}'\n`).join(''));
  await writeFile(join(folder, 'systemctl'), systemctl(folder, checkout), { mode: 0o755 });
  await writeFile(join(folder, 'journalctl'), `#!/bin/bash\ntail -12 ${folder}/said\n`, { mode: 0o755 });
  const without = Object.entries(service.env).filter(([name]) => !name.startsWith('LODGE_'));
  const env = { ...Object.fromEntries(without), PATH: `${folder}:${process.env['PATH']}` };
  await run(join(folder, 'systemctl'), ['start']);
  await agentWentOn();

  const next = await release('of a service', 'create table of_a_service (n integer);');
  const said = await start([], env).until('never said');
  assert.equal(said.code, 0, said.text);
  assert.equal(await head(), next);
  await agentWentOn();
  await writeFile(join(releases, entry), 'throw new Error("no such luck");');
  await release('of a service that does not start');
  const failed = await start([], env).until('never said');
  assert.equal(failed.code, 1, failed.text);
  assert.match(failed.text, /The service ended\. Its last words:[^]*no such luck[^]*Back at/);
  assert.equal(await head(), next);
  await agentWentOn();
  await run(join(folder, 'systemctl'), ['stop']);
});
