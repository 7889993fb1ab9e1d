import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

const script = readFileSync(new URL('place.sh', import.meta.url), 'utf8');
const run = promisify(execFile);

/** A guest's folder, and root in it. */
function folder(t: { after(end: () => void): void }) {
  const state = mkdtempSync(join(tmpdir(), 'skills-'));
  t.after(() => rmSync(state, { recursive: true }));
  const step = async (...argv: string[]): Promise<string[]> => {
    const { stdout } = await run('sh', ['-c', script, 'skills', ...argv], {
      env: { ...process.env, LODGE_STATE: state },
    });
    return stdout.split('\n').filter((line) => line !== '');
  };
  const bring = (version: string): void => {
    mkdirSync(join(state, 'incoming', version, 'scripts'), { recursive: true });
    writeFileSync(join(state, 'incoming', version, 'SKILL.md'), version);
    writeFileSync(join(state, 'incoming', version, 'scripts/run'), version, { mode: 0o755 });
  };
  const read = (path: string): string => readFileSync(join(state, 'set', path), 'utf8');
  return { state, step, bring, read };
}

test('a new set keeps the versions that are there, takes those that came, and has no others', async (t) => {
  const { state, step, bring, read } = folder(t);
  assert.deepEqual(await step('check'), ['none']);
  bring('v1');
  bring('v2');
  await step('put', 'first', 'v1', 'lodge/notes', 'v2', 'lodge/gone', 'v1', 'agents/scout/notes');
  assert.deepEqual([read('lodge/notes/SKILL.md'), read('agents/scout/notes/SKILL.md')], ['v1', 'v1']);
  assert.equal(statSync(join(state, 'set/lodge/notes/scripts/run')).mode & 0o777, 0o755);
  assert.deepEqual(new Set(await step('check')), new Set(['first', 'v1', 'v2']));

  bring('v3');
  await step('put', 'second', 'v1', 'lodge/kept', 'v3', 'lodge/notes');
  assert.deepEqual([read('lodge/kept/SKILL.md'), read('lodge/notes/SKILL.md')], ['v1', 'v3']);
  assert.deepEqual(readdirSync(join(state, 'set/lodge')).toSorted(), ['kept', 'notes']);
  assert.deepEqual(readdirSync(state), ['set'], 'nothing is left beside the set');

  await step('put', 'third');
  assert.deepEqual(readdirSync(join(state, 'set')).toSorted(), ['digest', 'versions']);
  assert.deepEqual(await step('check'), ['third']);
});

test('a set that cannot be made whole leaves the one that is there, and a check takes the remains away', async (t) => {
  const { state, step, bring, read } = folder(t);
  bring('v1');
  await step('put', 'first', 'v1', 'lodge/notes');
  bring('v2');
  await assert.rejects(step('put', 'second', 'v2', 'lodge/notes', 'v3', 'lodge/absent'));
  assert.equal(read('lodge/notes/SKILL.md'), 'v1');
  assert.ok(existsSync(join(state, 'incoming')));
  assert.deepEqual(await step('check'), ['first', 'v1'], 'what came for the failed one is not taken for whole');
  assert.deepEqual(readdirSync(state), ['set']);
});

test('a version whose folder somebody removed is asked for again', async (t) => {
  const { state, step, bring } = folder(t);
  bring('v1');
  await step('put', 'first', 'v1', 'lodge/notes');
  rmSync(join(state, 'set/lodge/notes'), { recursive: true });
  assert.deepEqual(await step('check'), ['first']);
});
