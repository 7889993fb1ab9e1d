/** The verdict of a run of real tests about a version: passed, or the first failed case. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { runTests } from './conformance.ts';

const folder = mkdtempSync(join(tmpdir(), 'lodge-suites-'));
after(() => rmSync(folder, { recursive: true }));

/** The form of the suite: cases of a group, which a test file declares. */
async function outcomeOf(name: string, body: string) {
  const file = join(folder, `${name}.test.mjs`);
  const imports = "import assert from 'node:assert/strict';\nimport { before, describe, test } from 'node:test';\n";
  writeFileSync(file, imports + body);
  // A test runner inside another's process would report to that one.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  return runTests({ files: [file], cwd: folder, env, log: join(folder, `${name}.log`) });
}

test('a suite whose cases all pass is passed', async () => {
  assert.equal(await outcomeOf('good', "describe('toy', () => { test('answers', () => {}); });"), null);
});

test('the first case that fails is named with its reason, not its group and not a later one', async () => {
  const body = `describe('toy', () => {
    test('answers', () => {});
    test('an answer streams - at once', () => assert.fail('nothing came'));
    test('sleeps', () => assert.fail('later'));
  });`;
  const failure = { step: 'conformance', case: 'an answer streams - at once', reason: 'nothing came' };
  assert.deepEqual(await outcomeOf('bad', body), failure);
});

test('a reason of several lines is told by its first', async () => {
  const body = "test('answers', () => assert.equal(1, 2, 'no answer\\nin 5 s'));";
  assert.deepEqual(await outcomeOf('lines', body), { step: 'conformance', case: 'answers', reason: 'no answer' });
});

test('a suite that cannot begin, runs nothing or ends its process has not passed', async () => {
  const template = await outcomeOf(
    'before',
    "before(() => { throw new Error('no template in 30 s'); }); test('answers', () => {});",
  );
  assert.match(template?.reason ?? '', /no template in 30 s/);
  assert.notEqual(await outcomeOf('syntax', 'this is no program'), null);
  assert.notEqual(await outcomeOf('ends', "test('answers', () => process.exit(0));"), null);
});
