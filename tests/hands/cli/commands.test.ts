/** Commands against the whole API: what they print, and how they end. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { openWorld, send } from '../../e2e/api/world.ts';
import type { World } from '../../e2e/api/world.ts';
import { newPerson } from './command.ts';
import type { Person } from './command.ts';

const model = 'anthropic/claude-sonnet-5';
const [colouredOk, colouredRunning] = ['ok', 'running'].map((text) => new RegExp(`\x1b\\[32m${text}`)) as [
  RegExp,
  RegExp,
];
const secret = 'sk-ant-do-not-show-4711';

describe('commands', () => {
  let world: World;
  let person: Person;
  before(async () => {
    world = await openWorld({ withGuest: true });
    person = await newPerson({ LODGE_URL: world.url, LODGE_API_KEY: world.key });
  });
  after(() => Promise.all([world.close(), person.remove()]));

  test('the version comes without a server, and the help names all groups', async () => {
    assert.match((await person.lodge(['--version'])).stdout, /^\d+\.\d+\.\d+\n$/);
    const help = await person.lodge(['--help']);
    assert.equal(help.code, 0);
    for (const group of ['agents', 'chat', 'login', 'context', 'api', 'completion'])
      assert.match(help.stdout, new RegExp(`^ {2}${group} `, 'm'));
    assert.match((await person.lodge(['help', 'agents', 'create'])).stdout, /Examples:\n/);
  });

  test('an agent is made, shown, changed, stopped, started and deleted', async () => {
    const args = ['agents', 'create', 'ada', '--model', model, '--label', 'team=x'];
    const made = await person.lodge([...args, '--llm-key', 'anthropic=env:SECRET', '--json'], {
      env: { SECRET: secret },
    });
    assert.equal(made.code, 0, made.stderr);
    const agent = JSON.parse(made.stdout);
    assert.deepEqual([agent.name, agent.status, agent.labels], ['ada', 'running', { team: 'x' }]);
    assert.ok(!(made.stdout + made.stderr).includes(secret));

    const listed = await person.lodge(['agents', 'list', '--label', 'team=x']);
    assert.equal(
      listed.stdout,
      `${agent.id}\tada\trunning\tfake\t${model}\tmedium\t${listed.stdout.split('\t').at(-1)}`,
    );
    assert.equal((await person.lodge(['agents', 'list', '--label', 'team=y'])).stdout, '');
    for (const meant of ['ada', agent.id, agent.id.slice(0, 5)])
      assert.equal(JSON.parse((await person.lodge(['agents', 'show', meant, '--json'])).stdout).id, agent.id);
    assert.match((await person.lodge(['agents', 'show', 'ada'])).stdout, /^status\trunning$/m);

    const changed = await person.lodge(
      ['agents', 'update', 'ada', '--size', 'large', '--daily-usd', '5', '--llm-key', 'openai=-', '--json'],
      { input: `${secret}\n` },
    );
    assert.equal(changed.code, 0, changed.stderr);
    const after = JSON.parse(changed.stdout);
    assert.deepEqual([after.size, after.spend_limit.daily_usd, after.llm_keys.length], ['large', '5', 2]);
    assert.equal(
      (await person.lodge(['agents', 'update', 'ada', '--remove-label', 'team', '--reset', 'spend_limit'])).code,
      0,
    );

    assert.equal((await person.lodge(['agents', 'stop', 'ada'])).stdout, `ada (${agent.id}) is stopped.\n`);
    assert.equal((await person.lodge(['chat', 'ada', '-m', 'hello'])).code, 5, 'its state does not allow this');
    assert.equal((await person.lodge(['agents', 'start', 'ada'])).stdout, `ada (${agent.id}) is running.\n`);
    assert.equal((await person.lodge(['agents', 'delete', 'ada'])).code, 2, 'nobody can be asked');
    const deleted = await person.lodge(['agents', 'delete', 'ada', '--yes', '--json']);
    assert.deepEqual(JSON.parse(deleted.stdout), { object: 'agent.deleted', id: agent.id, deleted: true });
    assert.equal((await person.lodge(['agents', 'show', 'ada'])).code, 4);
  });

  test('each option of packages replaces its list and leaves the others', async () => {
    const packagesOf = async (...args: string[]): Promise<unknown> => {
      const { code, stdout, stderr } = await person.lodge(['agents', ...args, '--json']);
      // A create that takes long says how far it is.
      return code === 0 ? JSON.parse(stdout).packages : stderr;
    };
    await writeFile(
      join(person.home, 'busy.json'),
      JSON.stringify({ model, packages: { apt: ['bc'], npm: ['yarn'] } }),
    );
    assert.deepEqual(
      await packagesOf('create', 'busy', '--input', 'busy.json', '--apt', 'jq=1.6-2.1', '--apt', 'ffmpeg'),
      { apt: ['jq=1.6-2.1', 'ffmpeg'], pip: [], npm: ['yarn'] },
    );
    const both = { apt: ['jq=1.6-2.1', 'ffmpeg'], pip: ['pandas==2.3.1'], npm: ['yarn'] };
    assert.deepEqual(await packagesOf('update', 'busy', '--pip', 'pandas==2.3.1'), both);
    assert.match(
      (await person.lodge(['agents', 'show', 'busy'])).stdout,
      /^packages\tjq=1.6-2.1, ffmpeg, pandas==2.3.1, yarn$/m,
    );
    assert.deepEqual(await packagesOf('update', 'busy', '--reset', 'packages.apt'), { ...both, apt: [] });
    assert.deepEqual(await packagesOf('update', 'busy', '--reset', 'packages', '--npm', 'prettier@3'), {
      apt: [],
      pip: [],
      npm: ['prettier@3'],
    });
    assert.deepEqual(await packagesOf('update', 'busy', '--reset', 'packages'), { apt: [], pip: [], npm: [] });
    assert.match(String(await packagesOf('update', 'busy', '--apt', '--purge')), /packages/);
  });

  test('two agents of one name are told apart by their ids', async () => {
    for (const name of ['twin', 'twin', 'twins'])
      await send(world.url, 'POST', '/v1/agents?wait=false', { key: world.key, body: { name, model } });
    const { code, stderr } = await person.lodge(['agents', 'show', 'twin']);
    assert.equal(code, 2);
    assert.match(
      stderr,
      /"twin" could be 2 agents: [a-z0-9]{12} \(twin\), [a-z0-9]{12} \(twin\)\.\n {2}Give the id of one\./,
    );
    assert.equal((await person.lodge(['agents', 'show', 'twins'])).code, 0);
  });

  test('a secret is no argument', async () => {
    const { code, stderr } = await person.lodge([
      'agents',
      'create',
      'x',
      '--model',
      model,
      '--llm-key',
      `anthropic=${secret}`,
    ]);
    assert.equal(code, 2);
    assert.ok(!stderr.includes(secret));
    assert.equal(
      (await person.lodge(['agents', 'create', 'x', '--llm-key', 'anthropic'])).code,
      2,
      'nobody can be asked',
    );
  });

  test('every exit code is the documented one', async () => {
    const key = await world.keyOf(world.accountId, ['agents:read']);
    const [limited, slow] = await Promise.all([serverOf(429), serverOf(503)]);
    const cases: readonly (readonly [code: number, args: string[], env?: Record<string, string>])[] = [
      [0, ['status']],
      [2, ['agnets']],
      [2, ['agents']],
      [2, ['agents', 'list', '--limit', 'many']],
      [2, ['agents', 'create', 'x', '--model', 'nonsense']],
      [3, ['account'], { LODGE_API_KEY: 'lodge_live_wrong' }],
      [3, ['agents', 'create', 'x', '--model', model], { LODGE_API_KEY: key }],
      [4, ['members', 'show', 'twins', 'nobody']],
      [4, ['api', 'GET', '/v1/nowhere']],
      [6, ['account'], { LODGE_URL: limited.url }],
      [7, ['account'], { LODGE_URL: slow.url }],
      [7, ['account'], { LODGE_URL: 'http://127.0.0.1:9' }],
    ];
    const ended = await Promise.all(cases.map(([, args, env]) => person.lodge(args, env && { env })));
    await Promise.all([limited.close(), slow.close()]);
    for (const [at, [code, args]] of cases.entries())
      assert.equal(ended[at]!.code, code, `${args.join(' ')}: ${ended[at]!.stdout}${ended[at]!.stderr}`);
  });

  test('a failure has the id of its request, and is JSON where results are', async () => {
    const { stderr } = await person.lodge(['members', 'show', 'twins', 'nobody']);
    assert.match(
      stderr,
      /^Error: .*\n {2}`lodge members list AGENT` shows its members\.\n {2}Request id: req_[0-9a-f]+\n$/,
    );
    const { stderr: json } = await person.lodge(['members', 'show', 'twins', 'nobody', '--json']);
    const { error } = JSON.parse(json);
    assert.deepEqual([error.code, error.status, error.exit_code], ['member_not_found', 404, 4]);
    assert.match(error.request_id, /^req_/);
  });

  test('members come and go', async () => {
    await writeFile(join(person.home, 'who.md'), 'You look things up.\n');
    const made = await person.lodge([
      'members',
      'create',
      'twins',
      'researcher',
      '--instructions-file',
      'who.md',
      '--json',
    ]);
    assert.equal(JSON.parse(made.stdout).instructions, 'You look things up.\n');
    assert.equal((await person.lodge(['members', 'create', 'twins', 'researcher'])).code, 5);
    assert.match((await person.lodge(['members', 'list', 'twins'])).stdout, /^researcher\t/);
    assert.equal((await person.lodge(['members', 'update', 'twins', 'researcher', '--model', model])).code, 0);
    assert.match((await person.lodge(['models', 'twins'])).stdout, /\/researcher\tresearcher\n/);
    assert.equal((await person.lodge(['members', 'delete', 'twins', 'researcher', '-y'])).code, 0);
  });

  test('readings of the server and the account', async () => {
    for (const args of [
      ['limits'],
      ['sizes'],
      ['providers'],
      ['models'],
      ['status'],
      ['account'],
      ['version'],
      ['account', 'spend'],
      ['host', 'status'],
    ]) {
      const [people, json] = await Promise.all([person.lodge(args), person.lodge([...args, '--json'])]);
      assert.deepEqual([people.code, json.code], [0, 0], `${args.join(' ')}: ${people.stderr}`);
      assert.notEqual(people.stdout, '');
      assert.equal(typeof JSON.parse(json.stdout), 'object');
    }
    const link = await person.lodge(['open', 'twins', '--print']);
    assert.match(link.stdout, /^http:\/\/\S+_lodge\/link\?token=\S+\n$/);
  });

  test('any request can be sent', async () => {
    const listed = await person.lodge(['api', 'get', '/v1/agents', '-f', 'name=twins', '-F', 'limit=1']);
    const { data } = JSON.parse(listed.stdout);
    assert.equal(data[0].name, 'twins');
    const changed = await person.lodge(['api', 'PATCH', `agents/${data[0].id}`, '-F', 'metadata={"a":"1"}']);
    assert.deepEqual(JSON.parse(changed.stdout).metadata, { a: '1' });
    const read = await person.lodge(['api', 'PATCH', `/v1/agents/${data[0].id}`, '--input', '-'], {
      input: '{"description":"new"}',
    });
    assert.equal(JSON.parse(read.stdout).description, 'new');
    const events = await person.lodge(['api', 'POST', `/v1/agents/${data[0].id}/chat/completions`, '--input', '-'], {
      input: '{"messages":[{"role":"user","content":"hi"}],"stream":true}',
    });
    assert.match(events.stdout, /^data: \{.*plum/m);
    assert.match(events.stdout, /^data: \[DONE\]$/m);
  });

  test('a reader who has enough ends the command quietly', async () => {
    const running = person.begin(['api', 'GET', '/v1/openapi.json']);
    running.closeOutput();
    const { code, stderr } = await running.ended();
    assert.deepEqual([code, stderr], [0, '']);
  });

  test('completion offers commands, choices, and agents by name and id', async () => {
    const complete = async (...words: string[]): Promise<string[]> =>
      (await person.lodge(['__complete', '--', ...words])).stdout.split('\n').map((line) => line.split('\t')[0]!);
    assert.deepEqual(await complete('agents', 'sh'), ['show', '']);
    assert.deepEqual(await complete('agents', 'list', '--status', 'pa'), ['paused', '']);
    const agents = await complete('agents', 'show', '');
    assert.ok(agents.includes('twins') && agents.some((word) => /^[a-z0-9]{12}$/.test(word)));
    for (const shell of ['bash', 'zsh', 'fish'])
      assert.match((await person.lodge(['completion', shell])).stdout, /__complete/);
    assert.match((await person.lodge(['man'])).stdout, /^\.SS "lodge agents create \[name\]"$/m);
  });

  test('on a terminal there are colours, headings and a question before something is deleted', async () => {
    const listed = person.atTerminal(['agents', 'list', '--name', 'twins']);
    const { stdout, code } = await listed.ended();
    assert.equal(code, 0);
    assert.match(stdout, /ID .*NAME .*STATUS/);
    assert.match(stdout, colouredRunning);
    const plain = await person.atTerminal(['agents', 'list'], { env: { NO_COLOR: '1' } }).ended();
    assert.ok(!plain.stdout.includes('\x1b'));
    assert.match((await person.lodge(['status'], { env: { FORCE_COLOR: '1' } })).stdout, colouredOk);

    const refused = person.atTerminal(['agents', 'delete', 'twins']);
    await refused.says('[y/N]');
    refused.write('n\n');
    assert.equal((await refused.ended()).code, 1);
    const hidden = person.atTerminal(['agents', 'update', 'twins', '--llm-key', 'openai']);
    await hidden.says('API key of');
    hidden.write(`${secret}\r`);
    const { stdout: screen, code: ended } = await hidden.ended();
    assert.equal(ended, 0, screen);
    assert.ok(!screen.includes(secret), 'a secret is not shown');
    const agreed = person.atTerminal(['agents', 'delete', 'twins']);
    await agreed.says('[y/N]');
    agreed.write('y\n');
    assert.equal((await agreed.ended()).code, 0);
  });
});

/** A server that answers everything with one status. */
async function serverOf(status: number): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer((_request, reply) => {
    const code = status === 429 ? 'rate_limit_exceeded' : 'agent_unavailable';
    reply.writeHead(status, { 'content-type': 'application/json', 'retry-after': '0' });
    reply.end(JSON.stringify({ error: { type: 'server_error', code, message: 'Not now.' } }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
