import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JsonBody } from './body.ts';

const bodyOf = (text: string) => JsonBody.of(Buffer.from(text));

/** Everything that JSON can hold and that parsing and writing again would change. */
const awkward =
  ' {\n "model" : "default",\t"n": 1.0, "big": 12345678901234567890, "e":1E2,"s":"a\\u0041\\/\\"}{][", "1":[{"x":"\\\\"},[]],"a":{"}":"{"}, "t":true ,"z":null}\n';

test('bytes that nobody edits stay as they came', () => {
  assert.equal(bodyOf(awkward).toBytes().toString(), awkward);
  const body = bodyOf(awkward);
  body.set('model', 'm"1');
  assert.equal(body.toBytes().toString(), awkward.replace('"model" : "default"', '"model":"m\\"1"'));
});

test('fields are set, added, renamed and removed wherever they stand', () => {
  const edits = (text: string, edit: (body: JsonBody) => void): string => {
    const body = bodyOf(text);
    edit(body);
    return body.toBytes().toString();
  };
  const abc = '{"a":1.0, "b":{"a":2},"c":"x"}';
  assert.equal(
    edits(abc, (body) => body.remove('a')),
    '{"b":{"a":2},"c":"x"}',
  );
  assert.equal(
    edits(abc, (body) => body.remove('b')),
    '{"a":1.0,"c":"x"}',
  );
  assert.equal(
    edits(abc, (body) => body.remove('c')),
    '{"a":1.0, "b":{"a":2}}',
  );
  assert.equal(
    edits(abc, (body) => ['a', 'b', 'c'].forEach((key) => body.remove(key))),
    '{}',
  );
  assert.equal(
    edits(abc, (body) => body.rename('a', 'd')),
    '{"d":1.0, "b":{"a":2},"c":"x"}',
  );
  assert.equal(
    edits(abc, (body) => body.rename('a', 'c')),
    '{"b":{"a":2},"c":"x"}',
  );
  assert.equal(
    edits(abc, (body) => body.rename('no', 'd')),
    abc,
  );
  assert.equal(
    edits(abc, (body) => body.set('d', [1])),
    '{"a":1.0, "b":{"a":2},"c":"x","d":[1]}',
  );
  assert.equal(
    edits('{ }', (body) => body.set('d', 1)),
    '{"d":1}',
  );
});

test('random objects are what JSON.parse says they are after an edit', () => {
  let seed = 7;
  const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
  const value = (depth: number): unknown => {
    const kind = random(depth > 3 ? 4 : 6);
    if (kind < 2) return ['\\', '"', 'a"b', '{', '}]', 'ü\n', '\\"'][random(7)];
    if (kind < 4) return [0, -1.5, true, null][random(4)];
    if (kind === 4) return Array.from({ length: random(4) }, () => value(depth + 1));
    return Object.fromEntries(Array.from({ length: random(4) }, (_, n) => [`k${n}"`, value(depth + 1)]));
  };
  for (let round = 0; round < 300; round++) {
    const object = { first: value(0), model: value(0), last: value(0) };
    const body = bodyOf(JSON.stringify(object, null, random(3)));
    body.set('model', 'm');
    body.remove('first');
    assert.deepEqual(JSON.parse(body.toBytes().toString()), { model: 'm', last: object.last });
  }
});

test('what two readers could read differently is refused', () => {
  for (const text of [
    '{"model":"a","model":"b"}',
    '{"model":"a","mod\\u0065l":"b"}',
    '[]',
    '"x"',
    'null',
    '{"a":1}{"b":2}',
    '',
    '{"a":NaN}',
  ]) {
    assert.throws(() => bodyOf(text), { status: 400 }, text);
  }
  assert.throws(() => JsonBody.of(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])), { status: 400 });
});
