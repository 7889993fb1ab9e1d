/** Runs with the real shell tools, over a folder of its own. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, test } from 'node:test';
import type { ExecRequest, ExecResult } from '@lodge/guest';
import { keepOwnerText } from './owner-text.ts';

const root = mkdtempSync(join(tmpdir(), 'owner-text-'));
after(() => rmSync(root, { recursive: true }));
const path = join(root, 'new folder', 'SOUL.md');
beforeEach(() => rmSync(join(root, 'new folder'), { recursive: true, force: true }));

const guest = {
  pace: 1,
  exec({ argv, stdin }: ExecRequest): Promise<ExecResult> {
    const { status, stderr } = spawnSync(argv[0]!, argv.slice(1), { input: stdin ?? '', encoding: 'utf8' });
    const rest = { signal: null, timedOut: false, truncated: false } as const;
    return Promise.resolve({ exitCode: status, stdout: '', stderr, ...rest });
  },
};
const keep = (text: string | null): Promise<void> => keepOwnerText(guest, path, text, new AbortController().signal);
const file = (): string => readFileSync(path, 'utf8');

test('the owner’s text comes, changes and goes, and what the agent wrote stays', async () => {
  await keep('Be brief.\n');
  assert.match(file(), /^<!--.*-->\nBe brief\.\n<!--.*-->\n$/);
  writeFileSync(path, `I like tea.\n${file()}And cake, without a line's end`);
  await keep('Be kind.\nÄ "$HOME" `id` \\n %s <!-- x -->');
  assert.match(file(), /\nBe kind\.\nÄ "\$HOME" `id` \\n %s <!-- x -->\n/);
  assert.doesNotMatch(file(), /brief/);
  await keep(null);
  assert.equal(file(), "I like tea.\nAnd cake, without a line's end\n");
  assert.deepEqual(readdirSync(join(path, '..')), ['SOUL.md'], 'nothing is left beside it');
});

test('what fits is not rewritten, and a file of nothing but the owner’s text goes with it', async () => {
  await keep('Be brief.');
  const { ino } = statSync(path);
  await keep('Be brief.');
  assert.equal(statSync(path).ino, ino);
  await keep(null);
  assert.equal(existsSync(path), false);
});

test('a mark within the text ends nothing', async () => {
  await keep('Be brief.');
  const [first, , last] = file().split('\n');
  await keep(`one\n${last}\n${first}\ntwo`);
  writeFileSync(path, `${file()}mine\n`);
  await keep('three');
  assert.equal(file(), `${first}\nthree\n${last}\nmine\n`);
});

test('a place that cannot be written says so', async () => {
  writeFileSync(join(root, 'new folder'), 'a file');
  await assert.rejects(keep('x'), /could not be written/);
});
