/** The scripts of completion, in the shells that are here. Bash always is. */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { newPerson, packedProgram } from './command.ts';
import type { Person } from './command.ts';

const call = promisify(execFile);
const has = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).status === 0;

describe('completion', () => {
  let person: Person;
  before(async () => {
    person = await newPerson();
  });
  after(() => person.remove());

  async function scriptFor(shell: string): Promise<string> {
    const path = join(person.home, `lodge.${shell}`);
    await writeFile(path, (await person.lodge(['completion', shell])).stdout);
    return path;
  }

  for (const shell of ['bash', 'zsh', 'fish'])
    test(`${shell} reads its script`, { skip: !has(shell) && 'not on this machine' }, async () => {
      await call(shell, ['-n', await scriptFor(shell)]);
    });

  /** The words that bash offers, where these are the words that it has taken the line apart into. */
  async function offered(...words: readonly string[]): Promise<string[]> {
    const lines = [
      `lodge() { '${process.execPath}' '${await packedProgram()}' "$@"; }`,
      `source '${await scriptFor('bash')}'`,
      'COMP_WORDS=(lodge "$@") COMP_CWORD=$#',
      '_lodge',
      'printf "%s\\n" "${COMPREPLY[@]}"',
    ];
    const { stdout } = await call('bash', ['-c', lines.join('\n'), 'bash', ...words]);
    return stdout.trim().split('\n');
  }

  test('bash offers words, and values behind a =', async () => {
    assert.deepEqual(await offered('agents', 'sh'), ['show']);
    assert.deepEqual(await offered('logs', '--level', 'w'), ['warn']);
    assert.deepEqual(await offered('logs', '--level', '=', 'w'), ['warn']);
    assert.deepEqual(await offered('logs', '--level', '='), ['debug', 'info', 'warn', 'error']);
    assert.deepEqual(await offered('logs', '--level', '=', 'warn', '--sou'), ['--source']);
    assert.deepEqual(await offered('logs', '--nothing', '=', 'w'), ['']);
  });

  test('fish offers words', { skip: !has('fish') && 'not on this machine' }, async () => {
    const lines = [
      `function lodge; '${process.execPath}' '${await packedProgram()}' $argv; end`,
      `source '${await scriptFor('fish')}'`,
      "complete -C 'lodge logs --level w'",
    ];
    assert.equal((await call('fish', ['-c', lines.join('\n')])).stdout, 'warn\n');
  });
});
