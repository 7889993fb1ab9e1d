/** `lodge chat`, one message and a conversation, against a runtime's gateway of the test's own. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { openWorld, send } from '../../e2e/api/world.ts';
import type { World } from '../../e2e/api/world.ts';
import { newPerson } from './command.ts';
import type { Person } from './command.ts';
import { startScriptedGateway } from './gateway.ts';
import type { ScriptedGateway } from './gateway.ts';
import { hostileStrings, obeyedIn } from './hostile-strings.ts';

const esc = '\x1b';
/** A spinner's or an answer's own text is removed, to be shown anew. */
const redrawn = new RegExp(`\r(?:${esc}\\[\\d+A)?${esc}\\[[JK]`, 'g');

describe('chat', () => {
  let gateway: ScriptedGateway;
  let world: World;
  let person: Person;
  let id: string;
  before(async () => {
    gateway = await startScriptedGateway();
    world = await openWorld({ withGuest: true, runtime: gateway.runtime });
    person = await newPerson({ LODGE_URL: world.url, LODGE_API_KEY: world.key });
    const body = { name: 'ada', model: 'anthropic/claude-sonnet-5' };
    id = (await send(world.url, 'POST', '/v1/agents', { key: world.key, body })).body.id;
  });
  after(async () => {
    await Promise.all([world.close(), person.remove()]);
    await gateway.close();
  });

  test('one message: from an option, from stdin, and from both', async () => {
    assert.equal((await person.lodge(['chat', 'ada', '-m', 'hello'])).stdout, 'You said: hello\n');
    assert.equal((await person.lodge(['chat', 'ada'], { input: 'from stdin\n' })).stdout, 'You said: from stdin\n');
    const both = await person.lodge(['chat', 'ada', '--stdin', '-m', 'explain'], { input: 'a log\n' });
    assert.equal(both.stdout, 'You said: explain\n\na log\n');
    assert.equal((await person.lodge(['chat', 'ada'], { input: ' \n' })).code, 2);
  });

  test('a conversation has a name, a member too, and JSON has the whole answer', async () => {
    await send(world.url, 'POST', `/v1/agents/${id}/members`, { key: world.key, body: { name: 'researcher' } });
    const { stdout, stderr } = await person.lodge([
      'chat',
      'ada',
      '-c',
      'news',
      '-m',
      'hi',
      '--member',
      'researcher',
      '--json',
    ]);
    assert.deepEqual(JSON.parse(stdout || stderr), {
      agent_id: id,
      member: 'researcher',
      conversation: 'news',
      content: 'You said: hi',
      finish_reason: 'stop',
    });
    assert.equal(gateway.asked.at(-1)!.talk, 'researcher news');
  });

  test('a file that a message mentions is in the workspace before the turn', async () => {
    await writeFile(join(person.home, 'report \x1b[31m.txt'), 'not a word');
    await writeFile(join(person.home, 'report.txt'), 'the report');
    const { code, stderr } = await person.lodge([
      'chat',
      'ada',
      '-m',
      'Read @report.txt, and write to me@example.com.',
    ]);
    assert.equal(code, 0, stderr);
    const [, path] = /^Read \/workspace\/(uploads\/[0-9a-f]+\/report\.txt), and write to me@example\.com\.$/.exec(
      gateway.asked.at(-1)!.text,
    )!;
    const file = await send(world.url, 'GET', `/v1/agents/${id}/files/${path}`, { key: world.key });
    assert.equal(file.text, 'the report');
  });

  test("steps of the agent's tools are lines of their own, where they are asked for", async () => {
    const used = { call: '1', tool: 'exec', title: 'run tests' };
    const failed = { call: '2', tool: 'write', title: '' };
    gateway.answer = () => [
      'I look. ',
      { ...used, status: 'started' },
      { ...used, status: 'completed' },
      { ...failed, status: 'started' },
      { ...failed, status: 'failed' },
      'Done.',
    ];
    const plain = await person.lodge(['chat', 'ada', '-m', 'go']);
    assert.deepEqual([plain.stdout, plain.stderr], ['I look. Done.\n', '']);
    const piped = await person.lodge(['chat', 'ada', '-m', 'go', '--steps']);
    assert.equal(piped.stdout, 'I look. Done.\n', 'the answer stays whole');
    assert.equal(piped.stderr, '· exec: run tests\n· write\n· write failed\n');
    const json = await person.lodge(['chat', 'ada', '-m', 'go', '--steps', '--json']);
    const lines = json.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const step = { id: 'step_1', tool: 'exec', status: 'started', title: 'run tests' };
    assert.deepEqual([lines.length, lines[0], lines[4].content], [5, { step }, 'I look. Done.']);

    const shown = await person.atTerminal(['chat', 'ada', '-m', 'go'], { env: { FORCE_COLOR: '1' } }).ended();
    const pieces = ['I look.', `${esc}[2m· exec: run tests${esc}[22m\r\n`, 'Done.'];
    const places = pieces.map((piece) => shown.stdout.indexOf(piece));
    assert.ok(places[0]! >= 0 && places[0]! < places[1]! && places[1]! < places[2]!, JSON.stringify(shown.stdout));
    const hidden = await person.atTerminal(['chat', 'ada', '-m', 'go', '--no-steps']).ended();
    assert.doesNotMatch(hidden.stdout, /· exec/);
  });

  test('half an answer is shown, and the command says that it is not whole', async () => {
    gateway.answer = () => ['half of ', 50, null];
    const asked = gateway.asked.length;
    const { code, stdout, stderr } = await person.lodge(['chat', 'ada', '-m', 'hello']);
    assert.equal(stdout, 'half of \n');
    assert.ok(code === 1 || code === 7, `${code}: ${stderr}`);
    assert.match(stderr, /^Error: /);
    assert.equal(gateway.asked.length, asked + 1, 'a turn is carried out once');
    const json = await person.lodge(['chat', 'ada', '-m', 'hello', '--json']);
    assert.equal(json.stdout, '', 'half a document is none');
  });

  test('an answer comes as it is written, and Ctrl-C ends the turn at the agent too', async () => {
    gateway.answer = () => ['first ', 60_000, 'never'];
    const running = person.begin(['chat', 'ada', '-m', 'slow one'], { input: '' });
    await running.says('first ');
    running.kill('SIGINT');
    const { code, stderr } = await running.ended();
    assert.equal(code, 130, stderr);
    await waitFor(() => gateway.cut.some(({ text }) => text === 'slow one'));
  });

  test('at a terminal: answers as Markdown, Ctrl-C for a turn, Ctrl-D for the end', async () => {
    gateway.answer = ({ text }) => (text === 'slow' ? ['so ', 60_000] : ['**bo', 'ld** & `co', 'de`\n\n- one']);
    const running = person.atTerminal(['chat', 'ada'], { env: { NO_COLOR: '1' } });
    await running.says('> ');
    running.write('hello\n');
    await running.says(/bold & code\r\n[^]*• one\r\n[^]*> /);
    running.write('slow\n');
    await running.says('so ');
    running.write('\x03');
    await running.says(/Stopped\.\r\n[^]*> /);
    await waitFor(() => gateway.cut.some(({ text }) => text === 'slow'));
    running.write('/new\n');
    await running.says(/A new conversation begins\.\r\n[^]*> /);
    running.write('two\nlines\n');
    await waitFor(() => gateway.asked.at(-1)!.text === 'two\nlines');
    const talks = gateway.asked.slice(-3).map(({ talk }) => talk);
    assert.ok(
      talks.every((talk) => talk.startsWith('null cli-')),
      talks.join(),
    );
    assert.equal(new Set(talks).size, 2);
    await running.says(/lines[^]*• one\r\n[^]*> /);
    running.write('\x04');
    const { code, stdout } = await running.ended();
    assert.equal(code, 0);
    assert.match(stdout, new RegExp(`lodge chat ${id} --conversation cli-[0-9a-f]+`));
  });

  test('Ctrl-C twice ends a conversation', async () => {
    const running = person.atTerminal(['chat', 'ada']);
    await running.says('> ');
    running.write('\x03');
    await running.says('Ctrl-C again ends.');
    running.write('\x03');
    assert.equal((await running.ended()).code, 130);
  });

  test('an answer can send nothing to the terminal, wherever its pieces are cut', async () => {
    const whole = hostileStrings.join('\n\n');
    const pieces: string[] = [];
    for (let at = 0; at < whole.length; at += 3) pieces.push(whole.slice(at, at + 3));
    gateway.answer = () => pieces;
    const piped = await person.lodge(['chat', 'ada', '-m', 'evil']);
    assert.equal(obeyedIn(piped.stdout), null);
    const json = await person.lodge(['chat', 'ada', '-m', 'evil', '--json']);
    assert.equal(obeyedIn(json.stdout), null);
    assert.equal(JSON.parse(json.stdout).content.toWellFormed(), whole.toWellFormed());
    const { stdout } = await person.atTerminal(['chat', 'ada', '-m', 'evil'], { env: { NO_COLOR: '1' } }).ended();
    // The spinner, and the block that is shown anew, are the command's own.
    assert.equal(obeyedIn(stdout.replaceAll(redrawn, '')), null);
  });
});

async function waitFor(isSo: () => boolean): Promise<void> {
  const until = Date.now() + 20_000;
  while (!isSo()) {
    assert.ok(Date.now() < until);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
