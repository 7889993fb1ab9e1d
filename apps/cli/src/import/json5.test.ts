import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseJson5 } from './json5.ts';

test('JSON as people write it', () => {
  const text = `\ufeff// made by hand
  {
    agents: { defaults: { model: 'stub/it\\'s', }, list: [ { id: "main", default: true, }, ], }, /* a
    note, with a brace { and a " */
    "url": "https://example.com/*", // the "usual" one
    $odd: [ +1, -2.5, null, false, '\\u0041\\x42\\
C' ],
    empty: {}, none: [],
  }`;
  assert.deepEqual(parseJson5(text), {
    agents: { defaults: { model: "stub/it's" }, list: [{ id: 'main', default: true }] },
    url: 'https://example.com/*',
    $odd: [1, -2.5, null, false, 'ABC'],
    empty: {},
    none: [],
  });
});

test('what is no JSON is refused, at once', () => {
  for (const text of ['', '{', '{a:1', "{'a", '/* {}', '{a b}', '{a:1}}', '{a:1e}', '/*'.repeat(200_000)])
    assert.throws(() => parseJson5(text), SyntaxError, text.slice(0, 20));
});
