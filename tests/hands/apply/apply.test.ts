/** `lodge apply` and `lodge export` against the real API, with fake machines: what a plan says, does, and keeps to itself. */
import assert from 'node:assert/strict';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { send } from '../../e2e/api/world.ts';
import type { World } from '../../e2e/api/world.ts';
import { skillText, tarGzOf } from '../../../packages/skills/src/testing/archives.ts';
import { marked, markedToken, newKeeper, openApplyWorld, whole } from './world.ts';
import type { Keeper } from './world.ts';

let world: World;
const printed: string[] = [];
before(async () => {
  world = await openApplyWorld();
});
after(() => world.close());

async function keeping(work: (keeper: Keeper) => Promise<void>): Promise<void> {
  const keeper = await newKeeper(world, printed);
  try {
    await work(keeper);
  } finally {
    await keeper.close();
  }
}
interface Shown {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly peers: readonly string[];
}
const agentsOf = async ({ key }: Keeper): Promise<Shown[]> =>
  (await send(world.url, 'GET', '/v1/agents?limit=100', { key })).body.data;
const secretsIn = (text: string): string[] =>
  [...Object.values(marked), markedToken].filter((secret) => text.includes(secret));

test('50 agents: the second apply changes nothing, and sends no change', () =>
  keeping(async ({ lodge, write, proxy, ...keeper }) => {
    const agents = Array.from({ length: 50 }, (_, at) => ({
      name: `agent ${at}`,
      runtime: 'openclaw',
      labels: { number: String(at) },
      schedules: [{ name: 'daily', every: '1d', prompt: `Report ${at}.` }],
      peers: [`agent ${(at + 1) % 50}`],
    }));
    await write('agents.json', JSON.stringify({ version: 1, labels: { team: 'many' }, agents }));
    const first = await lodge('apply', '-f', 'agents.json', '--yes', '--parallel', '8');
    assert.equal(first.code, 0, first.stderr);
    const made = await agentsOf({ lodge, write, proxy, ...keeper });
    assert.equal(made.length, 50);
    const idOf = new Map(made.map(({ id, name }) => [name, id]));
    for (const { name, peers } of made) {
      const at = Number(name.slice('agent '.length));
      assert.deepEqual(peers, [idOf.get(`agent ${(at + 1) % 50}`)]);
    }
    const before = proxy.changes().length;
    const second = await lodge('apply', '-f', 'agents.json', '--yes');
    assert.equal(second.code, 0, second.stderr);
    assert.match(second.stdout, /No changes/);
    assert.equal(proxy.changes().length, before);
  }));

test('a file with everything is made, then in order, and drift is named by field', () =>
  keeping(async (keeper) => {
    const { lodge, write, key, path, proxy } = keeper;
    await write('agents.yaml', whole);
    await write('ada.md', 'You are Ada.\nBe brief.\n');
    assert.equal((await lodge('apply', '--plan')).code, 8);
    const refused = await lodge('apply', '--yes');
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /--secrets-out/);
    assert.deepEqual(proxy.changes(), []);
    const made = await lodge('apply', '--yes', '--secrets-out', 'shown.json');
    assert.equal(made.code, 0, made.stderr);
    assert.equal((await lodge('apply', '--plan')).code, 0);

    const shown = JSON.parse(await readFile(path('shown.json'), 'utf8'));
    assert.equal((await stat(path('shown.json'))).mode & 0o777, 0o600);
    assert.deepEqual(
      shown.map(({ kind, name }: { kind: string; name?: string }) => [kind, name]),
      [
        ['webhook', undefined],
        ['hook', 'issues'],
      ],
    );
    assert.match(shown[1].url, /\/v1\/hooks\//);

    const ada = (await agentsOf(keeper)).find(({ name }) => name === 'ada')!;
    const change = (path: string, method: string, body: unknown): Promise<unknown> =>
      send(world.url, method, `/v1/agents/${ada.id}${path}`, { key, body });
    await change('', 'PATCH', { model: 'anthropic/claude-opus-5', lifecycle: { idle_timeout_seconds: 60 } });
    await change('', 'PATCH', { llm_keys: [{ provider: 'anthropic', api_key: 'sk-ant-another-key-with-9f2c' }] });
    await change('', 'PATCH', { confirmations: { rules: [], expires: '1h' } });
    await change('/members/bob', 'PATCH', { instructions: 'Be rude.' });
    await change('/ports', 'POST', { port: 3000, public: false });
    const plan = await lodge('apply', '--plan', '--json');
    assert.equal(plan.code, 8);
    const [{ name, steps }] = JSON.parse(plan.stdout).agents;
    assert.equal(name, 'ada');
    assert.deepEqual(
      steps.map(({ action, what, changes }: { action: string; what: string; changes: { field: string }[] }) => [
        action,
        what,
        changes.map(({ field }) => field),
      ]),
      [
        // The new key ends like the old one: the server's fingerprint tells them apart.
        ['update', '', ['model', 'lifecycle.idle_timeout_seconds', 'llm_keys.anthropic']],
        ['update', 'member bob', ['instructions']],
        ['update', 'port 3000', ['public']],
        ['update', 'its confirmations', ['confirmations.rules']],
      ],
    );
    assert.match(
      (await lodge('apply', '--plan')).stdout,
      /model: anthropic\/claude-opus-5 -> anthropic\/claude-sonnet-5/,
    );
    assert.equal((await lodge('apply', '--yes')).code, 0);
    assert.equal((await lodge('apply', '--plan')).code, 0);
  }));

test('skills are given by their names, once; what the file does not say of one stays; a strange one is refused before', () =>
  keeping(async (keeper) => {
    const { lodge, write, key, proxy } = keeper;
    const headers = { 'content-type': 'application/gzip' };
    for (const name of ['notes', 'notes', 'tables']) {
      const body = tarGzOf([{ path: `${name}/SKILL.md`, content: skillText(name) }]);
      const sent = await fetch(`${world.url}/v1/skills`, {
        method: 'POST',
        headers: { ...headers, 'x-api-key': key },
        body,
      });
      assert.equal(sent.status, 201);
    }
    const file = (skills: readonly object[]): Promise<void> =>
      write(
        'agents.json',
        JSON.stringify({
          version: 1,
          agents: [{ name: 'ada', runtime: 'openclaw', members: [{ name: 'bob' }, { name: 'cleo' }], skills }],
        }),
      );
    await file([{ name: 'notes', version: 3 }, { name: 'none' }]);
    const refused = await lodge('apply', '-f', 'agents.json', '--yes');
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /skills\[0\]\.version: the latest version of the skill is 2/);
    assert.match(refused.stderr, /skills\[1\]\.name: the account has no skill of this name/);
    assert.deepEqual(proxy.changes(), []);

    await file([
      { name: 'notes', version: 1, members: ['cleo', null, 'bob'] },
      { name: 'tables', enabled: false },
    ]);
    assert.match((await lodge('apply', '-f', 'agents.json', '--plan')).stdout, /\+ skill notes/);
    assert.equal((await lodge('apply', '-f', 'agents.json', '--yes')).code, 0);
    await file([{ name: 'notes', version: 1, members: [null, 'bob', 'cleo'] }, { name: 'tables' }]);
    assert.equal((await lodge('apply', '-f', 'agents.json', '--plan')).code, 0);

    await file([{ name: 'notes', version: 'latest' }]);
    const plan = await lodge('apply', '-f', 'agents.json', '--plan', '--prune');
    assert.match(plan.stdout, /~ skill notes/);
    assert.match(plan.stdout, /version: 1 -> latest/);
    assert.match(plan.stdout, /- skill tables/);
    assert.equal((await lodge('apply', '-f', 'agents.json', '--yes')).code, 0);
    const { id } = (await agentsOf(keeper))[0]!;
    const { data } = (await send(world.url, 'GET', `/v1/agents/${id}/skills`, { key })).body;
    assert.deepEqual(
      data.map(({ name, version, enabled, members }: Record<string, unknown>) => [name, version, enabled, members]),
      [
        ['notes', 'latest', true, [null, 'bob', 'cleo']],
        ['tables', 'latest', false, null],
      ],
    );
    await send(world.url, 'PUT', `/v1/agents/${id}/skills/tables`, { key, body: { members: [] } });
    assert.equal((await lodge('export', '-o', 'out/')).code, 0);
    assert.match(await readFile(keeper.path('out/agents.yaml'), 'utf8'), /members: \[\]/);
    proxy.seen.length = 0;
    assert.match((await lodge('apply', '-f', 'out', '--prune', '--yes')).stdout, /No changes/);
    assert.deepEqual(proxy.changes(), []);
  }));

test('what is not mentioned stays; --prune removes it, after it was shown', () =>
  keeping(async (keeper) => {
    const { lodge, write } = keeper;
    const file = (names: readonly string[], schedules: readonly string[]): string =>
      JSON.stringify({
        version: 1,
        labels: { team: 'pruned' },
        agents: names.map((name) => ({
          name,
          schedules: schedules.map((schedule) => ({ name: schedule, every: '1d', prompt: 'Report.' })),
        })),
      });
    await write('agents.json', file(['one', 'two'], ['daily', 'weekly']));
    await write('other.json', JSON.stringify({ version: 1, agents: [{ name: 'unlabelled' }] }));
    assert.equal((await lodge('apply', '-f', 'agents.json', '-f', 'other.json', '--yes')).code, 0);
    await write('agents.json', file(['one'], ['daily']));
    assert.equal((await lodge('apply', '-f', 'agents.json', '--plan')).code, 0);
    const plan = await lodge('apply', '-f', 'agents.json', '--plan', '--prune');
    assert.equal(plan.code, 8);
    assert.match(plan.stdout, /- schedule weekly/);
    assert.match(plan.stdout, /- agent two/);
    const asked = await lodge('apply', '-f', 'agents.json', '--prune');
    assert.equal(asked.code, 2, 'nobody can be asked');
    assert.equal((await lodge('apply', '-f', 'agents.json', '--prune', '--yes')).code, 0);
    const names = async (): Promise<string[]> => (await agentsOf(keeper)).map(({ name }) => name).toSorted();
    assert.deepEqual(await names(), ['one', 'unlabelled']);
    assert.equal((await lodge('apply', '-f', 'other.json', '--prune', '-l', 'team=pruned', '--yes')).code, 0);
    assert.deepEqual(await names(), ['unlabelled']);
  }));

test('wrong files are refused as a whole, with lines, before anything is asked', () =>
  keeping(async ({ lodge, write, proxy }) => {
    await write(
      'agents.yaml',
      [
        'version: 1',
        'agents:',
        '  - name: ada',
        '    modle: x',
        '    spend_limit: {daily_usd: 5, action: block}',
        '    llm_keys: {anthropic: sk-in-the-file}',
        '    schedules:',
        '      - {name: daily, prompt: hi}',
        '  - name: ada',
        '    size: gigantic',
        '    llm_keys: {anthropic: {env: MISSING}}',
      ].join('\n'),
    );
    const { code, stderr } = await lodge('apply', '--yes');
    assert.equal(code, 2);
    assert.match(stderr, /agents\.yaml:4: agents\[0\]\.modle: is not a field here; did you mean model\?/);
    assert.match(stderr, /agents\.yaml:5: .*daily_usd: must be a text.*put it in quotes/);
    assert.match(stderr, /agents\.yaml:6: .*anthropic: must be a map: name where the secret lies/);
    assert.match(stderr, /agents\.yaml:8: .*needs exactly one of cron, every, at/);
    assert.match(stderr, /agents\.yaml:9: .*another agent of the files has the name "ada"/);
    assert.match(stderr, /agents\.yaml:10: .*size: must be one of small, medium, large, xlarge/);
    assert.deepEqual(proxy.seen, []);
    await write('agents.yaml', 'version: 1\nagents:\n  - name: ada\n    llm_keys: {anthropic: {env: MISSING}}\n');
    assert.match((await lodge('apply', '--yes')).stderr, /agents\.yaml:4: .*the variable "MISSING" is not set/);
    await write('agents.yaml', 'version: 1\nagents: [{name: ada, name: b}]\n');
    assert.match((await lodge('apply', '--yes')).stderr, /agents\.yaml:2: .*unique/);
    assert.deepEqual(proxy.seen, []);
  }));

test('a failed agent does not hold up the others', () =>
  keeping(async (keeper) => {
    const { lodge, write } = keeper;
    const bad = { name: 'bad', llm_keys: { nobody: { env: 'KEY' } } };
    await write('agents.json', JSON.stringify({ version: 1, agents: [bad, { name: 'good' }] }));
    const { code, stderr } = await lodge('apply', '-f', 'agents.json', '--yes');
    assert.equal(code, 1);
    assert.match(stderr, /bad: /);
    assert.deepEqual(
      (await agentsOf(keeper)).map(({ name }) => name),
      ['good'],
    );
  }));

test('files are put once, drift of a running agent is found on request, and a sleeping one is not woken', () =>
  keeping(async (keeper) => {
    const { lodge, write, path, key, proxy } = keeper;
    await mkdir(path('workspace/notes'), { recursive: true });
    await writeFile(path('workspace/notes/a.md'), 'first');
    await write(
      'agents.yaml',
      'version: 1\nagents: [{name: filed, files: [{from: ./workspace, to: /kept, prune: true}]}]\n',
    );
    assert.equal((await lodge('apply', '--yes')).code, 0);
    const id = (await agentsOf(keeper))[0]!.id;
    const file = `/v1/agents/${id}/files/kept/notes/a.md`;
    assert.equal((await send(world.url, 'GET', file, { key })).text, 'first');
    const headers = { 'content-type': 'application/octet-stream' };
    await send(world.url, 'PUT', file, { key, body: 'drift', headers });
    await send(world.url, 'PUT', `/v1/agents/${id}/files/kept/extra.md`, { key, body: 'extra', headers });
    assert.equal((await lodge('apply', '--plan')).code, 0);
    const checked = await lodge('apply', '--plan', '--check-files');
    assert.equal(checked.code, 8);
    assert.match(checked.stdout, /files kept\/notes\/a\.md: nothing -> put\n.*files kept\/extra\.md: there -> nothing/);
    assert.equal((await lodge('apply', '--yes', '--check-files')).code, 0);
    assert.equal((await send(world.url, 'GET', file, { key })).text, 'first');
    assert.equal((await send(world.url, 'GET', `/v1/agents/${id}/files/kept/extra.md`, { key })).status, 404);

    await send(world.url, 'POST', `/v1/agents/${id}/stop`, { key, body: {} });
    proxy.seen.length = 0;
    assert.equal((await lodge('apply', '--plan')).code, 0);
    assert.deepEqual(proxy.changes(), []);
    await writeFile(path('workspace/notes/a.md'), 'second');
    assert.match((await lodge('apply', '--plan')).stdout, /It sleeps/);
    assert.equal((await lodge('apply', '--yes')).code, 0);
    assert.equal((await agentsOf(keeper))[0]!.status, 'stopped', 'it is stopped again');
    assert.equal((await lodge('apply', '--plan')).code, 0);
  }));

test('what export writes is in order for apply, and has no secret', () =>
  keeping(async (keeper) => {
    const { lodge, write, path, person, proxy, token } = keeper;
    await write('agents.yaml', whole);
    await write('ada.md', 'You are Ada.\n');
    assert.equal((await lodge('apply', '--yes', '--secrets-out', 'shown.json')).code, 0);
    const exported = await lodge('export', '--webhooks', '-o', 'out/', '--files');
    assert.equal(exported.code, 0, exported.stderr);
    const text = await readFile(path('out/agents.yaml'), 'utf8');
    printed.push(text);
    assert.match(text, /anthropic: \{ env: ADA_ANTHROPIC \} # last4 9f2c/);
    proxy.seen.length = 0;
    const env = {
      ADA_ANTHROPIC: marked.KEY,
      ADA_TELEGRAM_BOTTOKEN: token,
      ADA_CODE_AUTHORIZATION: `Bearer ${marked.KEY}`,
      ADA_ISSUES_SIGNATURE_SECRET: marked.KEY,
      GRACE_ANTHROPIC: marked.OTHER,
    };
    const again = await person.lodge(['apply', '-f', 'out', '--prune', '--yes'], { env });
    printed.push(again.stdout, again.stderr);
    assert.match(again.stdout, /No changes/, again.stderr);
    assert.equal(again.code, 0);
    assert.deepEqual(proxy.changes(), []);
  }));

test('a marked secret is in nothing that was printed or written, and in no log or event', async () => {
  assert.ok(printed.length > 20);
  for (const text of printed) assert.deepEqual(secretsIn(text), []);
  const { rows } = await world.sql.query<{ text: string }>(
    'select data::text as text from events union all select message from agent_logs',
  );
  for (const { text } of rows) assert.deepEqual(secretsIn(text), []);
});
