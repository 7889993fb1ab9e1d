/**
 * An agent taken from one Lodge to another as one file, and files that want to do harm. The API, engine, store and tar(1) are
 * real; the machines are a fake host's, with real folders.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { chmod, chown, link, mkdir, mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { gunzipSync, gzipSync } from 'node:zlib';
import { Side } from './portable-side.ts';

const run = promisify(execFile);
const passphrase = 'plum tart with cream';
const mark = 'MARKED-SECRET';

let from: Side;
let to: Side;
let id: string;
let file: Buffer;
let work: string;
before(async () => {
  [from, to] = [await Side.open(), await Side.open()];
  work = await mkdtemp(join(tmpdir(), 'lodge-hostile-'));
  id = await agentOf(from);
  await filesOf(await from.folder(id));
  file = await from.export(id);
});
after(async () => {
  // One after another: both are over one Postgres, which ends with the last of its databases.
  for (const side of [from, to]) await side?.close();
  await rm(work, { recursive: true, force: true });
});

/** An agent that has something of everything. */
async function agentOf(side: Side): Promise<string> {
  const agent = await side.made('POST', '/agents', {
    name: 'Packed',
    instructions: 'Be brief.',
    llm_keys: [{ provider: 'anthropic', api_key: `${mark}-llm` }],
    model: 'anthropic/claude-sonnet-5',
    labels: { team: 'support' },
    env: { TZ: 'Europe/Berlin' },
    egress: { mode: 'allowlist', allow: ['*.github.com'] },
    spend_limit: { monthly_usd: '5', action: 'block' },
    confirmations: { rules: [{ on: 'messages', match: '*', policy: 'ask' }] },
    packages: { apt: ['jq'] },
    lifecycle: { idle_timeout_seconds: 7200 },
  });
  const path = `/agents/${agent.id}`;
  await side.made('POST', `${path}/members`, { name: 'scout', instructions: 'Look around.' });
  await side.made('POST', `${path}/schedules`, {
    name: 'Morning',
    cron: '0 9 * * *',
    prompt: 'Report.',
    time_zone: 'UTC',
  });
  await side.made('POST', `${path}/hooks`, { name: 'Builds' });
  await side.made('PUT', `${path}/connections/crm`, {
    kind: 'mcp',
    url: 'https://crm.example.com',
    headers: { 'x-token': `${mark}-header` },
  });
  await side.made('POST', `${path}/ports`, { port: 3000 });
  return agent.id;
}

const long = `${'deep/'.repeat(30)}${'n'.repeat(120)}`;

async function filesOf(root: string): Promise<void> {
  const at = (path: string): string => join(root, 'workspace', path);
  await writeFile(at('notes.md'), 'plum');
  await mkdir(join(at(long), '..'), { recursive: true });
  await writeFile(at(long), 'long');
  await writeFile(at('ümlaut and\nline'), 'odd');
  await writeFile(at('program'), '#!/bin/sh\n', { mode: 0o755 });
  await chmod(at('program'), 0o4755);
  await symlink('notes.md', at('inside'));
  await symlink('/usr/bin/python3', at('python'));
  await symlink('/etc/shadow', at('outside'));
  await symlink('../../../etc', at('upwards'));
  await link(at('notes.md'), at('twin'));
  await run('mkfifo', [at('pipe')]);
  await writeFile(at('holes'), 'begin');
  await truncate(at('holes'), 64 * 2 ** 20);
  await writeFile(at('foreign'), 'of another user');
  await chown(at('foreign'), 4242, 4242);
  await writeFile(join(root, 'home/agent/own'), 'mine');
  await writeFile(join(root, 'home/agent/release'), `${mark}-gateway-token`);
  await mkdir(join(root, 'home/agent/.browser'));
  await writeFile(join(root, 'home/agent/.browser/Cookies'), `${mark}-cookie`);
}

const listOf = async (packed: Buffer): Promise<string[]> => {
  const path = join(work, 'list.tar.gz');
  await writeFile(path, packed);
  const { stdout } = await run('tar', ['-tzf', path, '--quoting-style=literal']);
  return stdout.split('\n');
};

test('an export is a tar.gz with the files of home and workspace, and with no secret', async () => {
  const names = await listOf(file);
  assert.equal(names[0], 'lodge-agent.json');
  for (const name of [
    'workspace/notes.md',
    `workspace/${long}`,
    'workspace/inside',
    'home/agent/own',
    'workspace/twin',
  ]) {
    assert.ok(names.includes(name), name);
  }
  for (const name of ['workspace/outside', 'workspace/upwards', 'workspace/pipe', 'home/agent/release']) {
    assert.ok(!names.includes(name), name);
  }
  const whole = gunzipSync(file);
  assert.equal(whole.indexOf(mark), -1);
  const { stdout } = await run('tar', ['-xzOf', join(work, 'list.tar.gz'), 'lodge-agent.json']);
  const manifest = JSON.parse(stdout);
  assert.deepEqual([manifest.format, manifest.version, manifest.runtime.version], ['lodge-agent', 1, '2026.9.6']);
  assert.deepEqual(
    manifest.missing.map(({ kind, name }: { kind: string; name: string }) => `${kind} ${name}`).toSorted(),
    [
      'connection crm',
      'file workspace/outside',
      'file workspace/pipe',
      'file workspace/upwards',
      'hook Builds',
      'llm_key anthropic',
      'port 3000',
    ],
  );
  assert.equal((await from.ask('GET', `/agents/${id}`)).json.status, 'running');
  assert.equal(readFileSync(join(await from.folder(id), 'workspace/notes.md'), 'utf8'), 'plum');
});

for (const [form, body, headers] of [
  ['plain', {}, {}],
  ['sealed', { passphrase }, { 'x-passphrase': passphrase }],
] as const) {
  test(`an agent comes back from a ${form} export on another Lodge, with settings and files`, async () => {
    const packed = await from.export(id, body);
    const answer = await to.import(packed, headers);
    assert.equal(answer.status, 201, answer.bytes.toString());
    const agent = answer.json;
    const origin = (await from.ask('GET', `/agents/${id}`)).json;
    assert.notEqual(agent.id, id);
    for (const field of [
      'name',
      'instructions',
      'model',
      'size',
      'labels',
      'env',
      'egress',
      'spend_limit',
      'packages',
      'lifecycle',
      'confirmations',
    ]) {
      assert.deepEqual(agent[field], origin[field], field);
    }
    assert.deepEqual([agent.status, agent.llm_keys, agent.channels], ['running', [], []]);
    assert.ok(
      agent.import.missing.some((one: object) => JSON.stringify(one) === '{"kind":"llm_key","name":"anthropic"}'),
    );
    const members = (await to.ask('GET', `/agents/${agent.id}/members`)).json.data;
    assert.deepEqual(
      members.map(({ name, instructions }: Record<string, unknown>) => [name, instructions]),
      [['scout', 'Look around.']],
    );
    const [schedule] = (await to.ask('GET', `/agents/${agent.id}/schedules`)).json.data;
    assert.deepEqual([schedule.name, schedule.enabled, schedule.next_run_at], ['Morning', false, null]);
    const root = join(await to.folder(agent.id), 'workspace');
    assert.equal(readFileSync(join(root, 'notes.md'), 'utf8'), 'plum');
    assert.equal(readFileSync(join(root, long), 'utf8'), 'long');
    assert.equal(readFileSync(join(root, 'ümlaut and\nline'), 'utf8'), 'odd');
    assert.equal(readFileSync(join(root, 'inside'), 'utf8'), 'plum');
    const [notes, twin, program, holes, foreign] = ['notes.md', 'twin', 'program', 'holes', 'foreign'].map((name) =>
      statSync(join(root, name)),
    );
    assert.equal(notes!.ino, twin!.ino);
    assert.equal(program!.mode & 0o7777, 0o755);
    assert.equal(foreign!.uid, 1000);
    assert.ok(holes!.size === 64 * 2 ** 20 && holes!.blocks < 1000);
    assert.ok(!existsSync(join(root, 'outside')));
    const events = (await to.ask('GET', `/events?agent_id=${agent.id}&limit=50`)).json.data.map(
      ({ type }: { type: string }) => type,
    );
    assert.ok(events.includes('agent.imported') && events.includes('agent.created'), events.join());
    assert.equal(readdirSync(to.imports).length, 1 + to.kept, 'its file waits for the keeper');
    to.kept += 1;
  });
}

test('a name in the query is the name of the agent, and the same request again has the same agent', async () => {
  const key = { 'idempotency-key': randomBytes(8).toString('hex') };
  const first = await to.import(file, key, '?name=Other');
  assert.deepEqual([first.status, first.json.name], [201, 'Other']);
  to.kept += 1;
  const again = await to.import(file, key, '?name=Other');
  assert.deepEqual([again.status, again.json.id], [201, first.json.id]);
  assert.equal(readdirSync(to.imports).length, to.kept);
});

test('a sealed file opens with its passphrase alone, and only whole and as it was', async () => {
  const sealed = await from.export(id, { passphrase });
  const chunk = 64 * 1024 + 16;
  const body = sealed.subarray(31);
  assert.ok(body.length > 0);
  const key = { 'x-passphrase': passphrase };
  await to.refuses(sealed, /X-Passphrase does not open it/, { 'x-passphrase': 'another passphrase' });
  await to.refuses(sealed, /X-Passphrase is missing/);
  await to.refuses(file, /X-Passphrase is given, and it is not sealed/, key);
  for (const at of [3, 20, 40, sealed.length - 1]) {
    const flipped = Buffer.from(sealed);
    flipped[at]! ^= 1;
    await to.refuses(flipped, /no export|does not open|changed/, key);
  }
  for (const length of [15, 20, 31, 40, sealed.length - 1, sealed.length - 16]) {
    await to.refuses(sealed.subarray(0, length), /cut short|does not open|no export|changed/, key);
  }
  await to.refuses(Buffer.concat([sealed, sealed.subarray(31)]), /changed|does not open/, key);
  // A file of several chunks, made here so that chunks can be dropped and swapped.
  const large = await manyChunks();
  const chunks = [...Array(Math.ceil((large.length - 31) / chunk)).keys()].map((n) =>
    large.subarray(31 + n * chunk, 31 + (n + 1) * chunk),
  );
  assert.ok(chunks.length >= 3);
  const of = (...parts: Buffer[]): Buffer => Buffer.concat([large.subarray(0, 31), ...parts]);
  await to.refuses(of(...chunks.slice(0, -1)), /cut short/, key);
  await to.refuses(of(chunks[1]!, chunks[0]!, ...chunks.slice(2)), /does not open/, key);
  await to.refuses(of(chunks[0]!, ...chunks.slice(2)), /changed/, key);
  await to.refuses(of(chunks[0]!, chunks[0]!, ...chunks.slice(1)), /changed/, key);
});

async function manyChunks(): Promise<Buffer> {
  const path = join(await from.folder(id), 'workspace/noise');
  await writeFile(path, randomBytes(300_000));
  const large = await from.export(id, { passphrase });
  await rm(path);
  return large;
}

test('a plain file that is cut or changed is found', async () => {
  for (const length of [1, 2, 100, file.length - 9, file.length - 1]) {
    await to.refuses(file.subarray(0, length), /cut short|no export/);
  }
  const flipped = Buffer.from(file);
  flipped[Math.floor(file.length / 2)]! ^= 0x10;
  await to.refuses(flipped, /changed|cut short|archive|leads|owner|entry/);
  await to.refuses(Buffer.concat([file, gzipSync(Buffer.from('more'))]), /something follows its end/);
  await to.refuses(Buffer.alloc(0), /no export/);
  await to.refuses(Buffer.from('hello'), /no export/);
  await to.refuses(gzipSync('hello'), /cut short/);
});

test('an agent at work, one at rest and one that is not there are not exported', async () => {
  from.troubles.busy = true;
  const busy = await from.ask('POST', `/agents/${id}/export`, {});
  assert.deepEqual([busy.status, busy.json.error.code], [409, 'agent_busy']);
  assert.ok(Number(busy.headers.get('retry-after')) > 0);
  assert.equal((await from.ask('GET', `/agents/${id}`)).json.transition, null);
  await from.made('POST', `/agents/${id}/stop`, {});
  const stopped = await from.ask('POST', `/agents/${id}/export`, {});
  assert.deepEqual([stopped.status, stopped.json.error.code], [409, 'agent_not_running']);
  assert.equal((await from.ask('POST', '/agents/aaaaaaaaaaaa/export', {})).status, 404);
  for (const wrong of [
    { passphrase: 'short' },
    { passphrase: 7 },
    { pass: 'x' },
    { passphrase: ' leads with a space' },
  ]) {
    assert.equal((await from.ask('POST', `/agents/${id}/export`, wrong)).status, 400, JSON.stringify(wrong));
  }
  const woken = await from.ask('POST', `/agents/${id}/export?wake=true`, {});
  assert.equal(woken.status, 200);
});

test('a snapshot of a stopped agent is exported, and imported as an agent with the files of then', async () => {
  const snapshot = await from.made('POST', `/agents/${id}/snapshots`, { name: 'before' });
  await from.guests.part(id);
  await writeFile(join(await from.folder(id), 'workspace/notes.md'), 'pear');
  await from.made('POST', `/agents/${id}/stop`, {});
  const packed = await from.export(id, { snapshot: snapshot.id, passphrase });
  assert.equal((await from.ask('GET', `/agents/${id}`)).json.status, 'stopped');
  const answer = await to.import(packed, { 'x-passphrase': passphrase });
  assert.equal(answer.status, 201, answer.bytes.toString());
  to.kept += 1;
  assert.equal(readFileSync(join(await to.folder(answer.json.id), 'workspace/notes.md'), 'utf8'), 'plum');
  const { json: stranger } = await from.ask('POST', `/agents/${id}/export`, { snapshot: 'aaaaaaaaaaaa' });
  assert.equal(stranger.error.code, 'snapshot_not_found');
});

test('no file of an import or export is left for others to read', async () => {
  for (const side of [from, to]) {
    const folder = side.imports;
    assert.equal(statSync(folder).mode & 0o777, 0o700);
    for (const name of readdirSync(folder)) assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600);
  }
  assert.deepEqual(readdirSync(from.imports), []);
});
