/** Agents as files, by the SDK and the command line: sealed, plain, out of a snapshot, and back in. */
import assert from 'node:assert/strict';
import { readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Lodge } from '@lodge/sdk';
import { Side } from '../e2e/portable-side.ts';
import { newPerson } from './cli/command.ts';
import type { Person } from './cli/command.ts';

const passphrase = 'plum tart with cream';
let side: Side;
let person: Person;
let lodge: Lodge;
let id: string;
before(async () => {
  side = await Side.open();
  const { baseUrl, firstKey } = side.lodge;
  lodge = new Lodge({ baseUrl, apiKey: firstKey!.plaintext });
  person = await newPerson({ LODGE_URL: baseUrl, LODGE_API_KEY: firstKey!.plaintext, PASSPHRASE: passphrase });
  id = (await lodge.agents.create({ name: 'ada' })).id;
  await writeFile(await noteOf(id), 'plum');
});
after(async () => {
  await person?.remove();
  await side?.close();
});

const noteOf = async (agent: string): Promise<string> => join(await side.folder(agent), 'workspace/note');

async function done(args: readonly string[]) {
  const result = await person.lodge(args);
  assert.equal(result.code, 0, result.stderr);
  return result;
}

test('a sealed export is a file of its owner, and an import of it is another agent with the files', async () => {
  const args = ['agents', 'export', 'ada', '--passphrase', 'env:PASSPHRASE'];
  assert.match((await done(args)).stdout, /^ada is in ada\.lodge \(/);
  const file = join(person.home, 'ada.lodge');
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  assert.ok((await readFile(file, 'latin1')).startsWith('LODGE-SEALED-1\n'));
  const twice = await person.lodge(args);
  assert.deepEqual([twice.code, /--force/.test(twice.stderr)], [2, true]);
  await done([...args, '--force']);
  const imported = await done([
    'agents',
    'import',
    'ada.lodge',
    '--name',
    'twin',
    '--passphrase',
    'env:PASSPHRASE',
    '--json',
  ]);
  const twin = JSON.parse(imported.stdout);
  assert.deepEqual([twin.name, twin.status, twin.import.missing], ['twin', 'running', []]);
  assert.equal(await readFile(await noteOf(twin.id), 'utf8'), 'plum');
  const closed = await person.lodge(['agents', 'import', 'ada.lodge']);
  assert.match(closed.stderr, /Passphrase of the file: Nobody can be asked here\./);
  assert.deepEqual(await readdir(person.home), ['ada.lodge']);
});

test('on a terminal a passphrase is asked for twice to seal, once to open, and is not shown', async () => {
  const typed = async (args: readonly string[], ...answers: readonly string[]) => {
    const running = person.atTerminal(args);
    for (const [index, answer] of answers.entries()) {
      await running.says(index === 0 ? 'Passphrase of the file:' : 'once more:');
      running.write(`${answer}\r`);
    }
    const ended = await running.ended();
    assert.ok(!ended.stdout.includes(passphrase));
    return ended;
  };
  const asking = ['agents', 'export', 'ada', '--out', 'asked', '--passphrase'];
  assert.equal((await typed(asking, passphrase, 'another word')).code, 2);
  assert.equal((await typed(asking, passphrase, passphrase)).code, 0);
  const { code, stdout } = await typed(['agents', 'import', 'asked', '--name', 'asked'], passphrase);
  assert.equal(code, 0, stdout);
});

test('a snapshot is exported, and what is no export is refused', async () => {
  const snapshot = await lodge.snapshots.create(id, { name: 'then' });
  await side.guests.part(id);
  await writeFile(await noteOf(id), 'pear');
  await done(['agents', 'export', 'ada', '--snapshot', snapshot.id, '--out', 'then.tar.gz']);
  const agent = await lodge.agents.importFile(await readFile(join(person.home, 'then.tar.gz')), { name: 'then' });
  assert.equal(await readFile(await noteOf(agent.id), 'utf8'), 'plum');
  const stranger = await person.lodge(['agents', 'export', 'then', '--snapshot', snapshot.id, '--out', 'none']);
  assert.deepEqual([stranger.code, stranger.stderr.includes('no such snapshot')], [4, true]);
  await writeFile(join(person.home, 'text'), 'hello');
  assert.match((await person.lodge(['agents', 'import', 'text'])).stderr, /no export of an agent/);
  assert.equal((await person.lodge(['agents', 'import', 'text', '--passphrase', 'env:PASSPHRASE'])).code, 2);
  assert.equal((await person.lodge(['agents', 'import', 'nothing'])).code, 2);
  assert.ok((await readdir(person.home)).every((name) => name !== 'none' && !name.endsWith('.part')));
});

test('by the SDK an export is a stream, which goes into an import as it comes', async () => {
  const content = await lodge.agents.exportFile(id, { passphrase });
  const agent = await lodge.agents.importFile(content.stream(), { passphrase, name: 'streamed' });
  assert.equal(agent.status, 'running');
  assert.equal(await readFile(await noteOf(agent.id), 'utf8'), 'pear');
  assert.throws(() => content.stream(), /read already/);
  const unread = await lodge.agents.exportFile(id);
  unread.cancel();
  await assert.rejects(lodge.agents.exportFile('aaaaaaaaaaaa'), { code: 'agent_not_found' });
});
