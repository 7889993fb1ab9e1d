/**
 * Somebody is root in an agent's guest, and no provider key, and nothing of another agent, is to be had: attempts by name
 * against the real broker from a real machine, and a search for the keys in all that a Lodge leaves anywhere.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { guestClientOf, guestOf } from '@lodge/testkit/guest';
import { Service } from '@lodge/testkit/service';
import { startStubLlm } from '@lodge/testkit/llm';
import type { StubLlm } from '@lodge/testkit/llm';
import { Client } from 'pg';
import { occurrences, occurrencesIn, qemuPid } from '../e2e/guest-memory.ts';
import { planNetwork } from '../../packages/vm/src/qemu/network/plan.ts';
import { attempts } from './key-attempts.ts';
import type { Attempt } from './key-attempts.ts';

const marked = (whose: string): string => `sk-${whose}-${randomBytes(16).toString('hex')}`;
const keys = { attacker: marked('attacker'), victim: marked('victim') };
/** Is in the guest and on its disk: the search finds what is there. */
const control = `control-${randomBytes(16).toString('hex')}`;

let llm: StubLlm;
let service: Service;
let database: Client;
const ids = { attacker: '', victim: '' };

before(
  async () => {
    llm = await startStubLlm({ keys: Object.values(keys) });
    const { openaiBaseUrl: base_url, googleBaseUrl } = llm;
    const providers = [
      { id: 'stub', base_url, needs_key: true },
      { id: 'victims', base_url, needs_key: true },
      { id: 'gemini', base_url: googleBaseUrl, api: 'google-generative-ai', needs_key: true },
      { id: 'rebinding', base_url: `http://localhost:${llm.port}/v1`, private_addresses: false },
    ];
    const entry = new URL('../failure/lodge-with-bare-guests.ts', import.meta.url);
    service = await Service.start({ entry, env: { LODGE_PROVIDERS: JSON.stringify(providers) } });
    await service.awaitTemplate(15 * 60_000);
    database = new Client(service.databaseUrl);
    await database.connect();
    ids.attacker = await create('stub/test-model', { stub: keys.attacker, gemini: keys.attacker });
    ids.victim = await create('victims/test-model', { victims: keys.victim });
  },
  { timeout: 17 * 60_000 },
);
after(async () => {
  await database?.end();
  await service?.destroy();
  await llm?.close();
});

async function create(model: string, given: Readonly<Record<string, string>>): Promise<string> {
  const llm_keys = Object.entries(given).map(([provider, api_key]) => ({ provider, api_key }));
  const lifecycle = { idle_timeout_seconds: 0 };
  const reply = await service.call('POST', '/agents', { name: 'A', size: 'small', model, llm_keys, lifecycle });
  assert.equal(reply.status, 201, JSON.stringify(reply.body));
  return reply.body.id as string;
}

async function addressOf(id: string): Promise<string> {
  return (await guestOf(service.dataDir, id)).address;
}

function brokerHost(): string {
  const range = service.env['LODGE_NETWORK_RANGE']!;
  return planNetwork({ instance: service.instance, range, brokerPort: 4000, resolver: '9.9.9.9' }).brokerHost;
}

interface Outcome {
  readonly said: string;
  readonly failure: string;
}

/** Makes attempts in the attacker's guest, as root. */
async function attempt(list: readonly Attempt[]): Promise<Outcome[]> {
  const guest = await guestClientOf(service.dataDir, ids.attacker);
  const places = { host: '10.0.2.2', port: 4000 };
  const asked = list.map(({ wants: _wants, provider: _provider, ...rest }) => ({ ...places, ...rest }));
  const file = { mode: 0o600, owner: 'root' } as const;
  await guest.writeFile('/srv/attempts.json', JSON.stringify(asked), file);
  const argv = ['node', '/srv/key-probe.mjs', '/srv/attempts.json'];
  const { exitCode, stdout, stderr } = await guest.exec({
    argv,
    user: 'root',
    timeoutMs: 240_000,
    maxOutputBytes: 1024 * 1024,
  });
  assert.equal(exitCode, 0, stderr);
  return JSON.parse(stdout) as Outcome[];
}

const victimsRows = async (): Promise<number> =>
  (await database.query(`select 1 from llm_calls where agent_id = $1`, [ids.victim])).rows.length;

test('no attempt of a guest gets a key, or what is another agent’s', { timeout: 12 * 60_000 }, async (t) => {
  const guest = await guestClientOf(service.dataDir, ids.attacker);
  const probe = await readFile(new URL('key-probe.mjs', import.meta.url), 'utf8');
  await guest.writeFile('/srv/key-probe.mjs', `${probe}// ${control}\n`, { mode: 0o600, owner: 'root' });
  const list = attempts({
    key: keys.attacker,
    victimId: ids.victim,
    victimAddress: await addressOf(ids.victim),
    attackerAddress: await addressOf(ids.attacker),
    brokerHost: brokerHost(),
    apiPort: Number(new URL(service.baseUrl).port),
    markers: Object.values(keys),
  });
  assert.ok(list.length >= 30);
  // Attempts with their own kind of provider answer come first, in the order of these answers.
  list.sort((one, other) => Number(!one.provider) - Number(!other.provider));
  llm.script(list.flatMap(({ provider }) => provider ?? []));
  const outcomes = await attempt(list);
  for (const [index, { said, failure }] of outcomes.entries()) {
    const { name, wants } = list[index]!;
    await t.test(name, () => {
      assert.match(said === '' ? `failure ${failure}` : said.trimEnd(), wants);
      for (const key of Object.values(keys)) assert.ok(!said.includes(key) && !said.includes(key.slice(-12)));
    });
  }
  assert.ok(llm.requests.length >= 8, 'some did reach the provider');
  for (const { key, path, headers } of llm.requests) {
    assert.equal(key, keys.attacker, `${path}: whatever was asked, it was with the attacker's own key`);
    assert.doesNotMatch(JSON.stringify(headers), /stolen/);
  }
  assert.equal(await victimsRows(), 0, 'nothing was written to the account of the other');
});

test(
  'no key is in memory or on disk of a guest, in a log, or in the clear in the database',
  { timeout: 10 * 60_000 },
  async () => {
    const needles = [control, ...Object.values(keys)].map((text) => Buffer.from(text));
    const nowhere = [0, 0];
    const found = await occurrences(
      await qemuPid(service.dataDir, ids.attacker),
      join(service.dataDir, 'vms', ids.attacker),
      needles,
    );
    assert.ok(found.memory[0]! > 0, 'the search finds what is there');
    assert.deepEqual([found.memory.slice(1), found.disk.slice(1)], [nowhere, nowhere]);
    // A stop saves the memory: then the whole data folder, with the disks and snapshots of both, the database and its log.
    for (const id of Object.values(ids)) assert.equal((await service.call('POST', `/agents/${id}/stop`)).status, 200);
    const onDisk = await occurrencesIn(service.dataDir, needles);
    assert.ok(onDisk[0]! > 0, 'the search finds what is there');
    assert.deepEqual(onDisk.slice(1), nowhere);
    const { rows } = await database.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = 'public'`,
    );
    assert.ok(rows.length > 10);
    const dump: string[] = [service.output];
    for (const { name } of rows) {
      for (const row of (await database.query<{ row: string }>(`select t::text as row from ${name} t`)).rows)
        dump.push(row.row);
    }
    const text = dump.join('\n');
    assert.ok(text.includes(ids.attacker), 'the dump has what there is');
    for (const key of Object.values(keys)) {
      const spellings = [key, Buffer.from(key).toString('base64').slice(0, -4), Buffer.from(key).toString('hex')];
      for (const spelling of spellings) assert.ok(!text.includes(spelling));
    }
  },
);
