import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expressionsIn, patternsOfTheCode, unproved, verdictOn } from './linear-patterns.ts';

test('every regular expression of the code is proved to be linear, or excepted with a reason', async () => {
  const { written, unknown } = await patternsOfTheCode();
  assert.ok(written.size > 150, `${written.size} expressions`);
  const missing = await unproved(written.keys());
  assert.deepEqual(
    missing.map((literal) => `${written.get(literal)!.join(', ')}: ${literal}`),
    [],
    'run node scripts/linear-patterns.ts',
  );
  assert.deepEqual(unknown, [], 'say in scripts/linear-patterns.ts why the expressions that they make are linear');
});

test('expressions are found wherever they stand', () => {
  const source = String.raw`const a = /a+$/g; f('x'.replace(/b*c/, '')); new RegExp('d+e', 'i'); const t = <T,>(x: T) => /f\//.test(x);`;
  assert.deepEqual(expressionsIn('x.ts', source), {
    literals: ['/a+$/g', '/b*c/', '/d+e/i', String.raw`/f\//`],
    hasMade: false,
  });
  assert.equal(expressionsIn('x.ts', 'RegExp(`a${b}`)').hasMade, true);
});

test('an expression that begins anew at each character is told from one that does not', async () => {
  for (const quadratic of [
    String.raw`/\r+$/`,
    String.raw`/\S*$/`,
    String.raw`/\s*,\s*/`,
    String.raw`/(?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]{0,}){2,4}/g`,
    String.raw`/[\w.-]*\*{3,}[\w.-]*/g`,
    String.raw`/[A-Za-z0-9+/]{2048,}={0,2}/g`,
    '/(a+)+$/',
  ])
    assert.equal((await verdictOn(quadratic)).isLinear, false, quadratic);
  for (const linear of [String.raw`/\s+/g`, String.raw`/^\s*a/`, String.raw`/\r?\n\r?\n/g`])
    assert.equal((await verdictOn(linear)).isLinear, true, linear);
});
