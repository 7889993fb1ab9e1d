import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import type { FastifyRequest } from 'fastify';
import { maxBodyBytes, parseJsonBody } from './json-body.ts';

const parse = (text: string | Buffer): unknown =>
  parseJsonBody({ headers: {} } as FastifyRequest, Buffer.from(text as string));

const codeOf = (text: string | Buffer): string => {
  try {
    parse(text);
    return 'ok';
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    return `${code}: ${message}`;
  }
};

test('a key that stands twice in one object is refused by name, however it is written', () => {
  for (const text of [
    '{"a":1,"a":2}',
    '{"a":1,"\\u0061":2}',
    '{"x":{"a":1,"b":[{"c":1}],"a":2}}',
    '[{"b":1},{"a" : 1 , "b":"\\"a\\":", "a"\n:2}]',
  ]) {
    assert.match(codeOf(text), /^invalid_request: The field "a" is given twice/, text);
  }
});

test('__proto__ is refused at any depth, however it is written', () => {
  for (const text of ['{"__proto__":{}}', '{"a":[{"\\u005f_proto__":1}]}']) {
    assert.match(codeOf(text), /^invalid_request: The field "__proto__"/, text);
  }
});

test('what only looks like it is taken', () => {
  for (const text of [
    '{"a":"a","b":"a","c":["a","a"]}',
    '{"a":{"a":{"a":1}},"b":{"a":1}}',
    '{"a":"\\\\","b":"{[\\"a\\":1","c":"__proto__"}',
    '{"":1," ":2}',
    '"a"',
  ]) {
    assert.deepEqual(parse(text), JSON.parse(text), text);
  }
});

test('nesting is bounded, and bytes must be UTF-8', () => {
  assert.equal(codeOf('['.repeat(64) + ']'.repeat(64)), 'ok');
  assert.match(codeOf('['.repeat(65) + ']'.repeat(65)), /^invalid_json/);
  assert.match(codeOf('['.repeat(400_000) + ']'.repeat(400_000)), /^invalid_json/);
  assert.match(codeOf(Buffer.from([0x22, 0xc3, 0x28, 0x22])), /^invalid_json/);
  assert.deepEqual(parse('\ufeff{"a":1}'), { a: 1 });
  assert.equal(parse(''), undefined);
});

test('a key is read as it is written, whatever was read before', () => {
  for (const earlier of ['{"\\\\\\\\":1}', '{"cl\\\\":1}', '{"\ue0000":1}'])
    for (let i = 0; i < 3; i += 1) parse(earlier);
  assert.deepEqual(parse('{"\\\\]":2}'), { '\\]': 2 });
  assert.deepEqual(parse('{"cl\\u00e9":2,"n":[{"\\"":3}]}'), { clé: 2, n: [{ '"': 3 }] });
  assert.deepEqual(parse('{"\ue0000":2,"\\n":3}'), { '\ue0000': 2, '\n': 3 });
});

test('any object made by JSON.stringify passes as JSON.parse reads it', () => {
  const value = (depth: number): unknown => {
    const kind = randomInt(depth > 5 ? 3 : 5);
    const text = () => Array.from({ length: randomInt(6) }, () => '"\\{}[]:,a\n\u2028é'[randomInt(13)]).join('');
    if (kind === 0) return text();
    if (kind === 1) return randomInt(1000) / 7;
    if (kind === 2) return null;
    const items = Array.from({ length: randomInt(5) }, () => value(depth + 1));
    return kind === 3 ? items : Object.fromEntries(items.map((item) => [text(), item]));
  };
  for (let i = 0; i < 2000; i += 1) {
    const made = { value: value(0) };
    for (const space of [undefined, 2]) assert.deepEqual(parse(JSON.stringify(made, null, space)), made);
  }
});

test('the largest body is looked through in a blink', () => {
  const worst = [
    JSON.stringify({ a: '"\\'.repeat(maxBodyBytes / 5) }),
    JSON.stringify({ a: Array.from({ length: maxBodyBytes / 8 }, () => 'a"') }),
    JSON.stringify(Object.fromEntries(Array.from({ length: maxBodyBytes / 12 }, (_, i) => [`k${i}`, 1]))),
  ];
  for (const text of worst) {
    const before = process.cpuUsage();
    parse(text);
    const { user, system } = process.cpuUsage(before);
    assert.ok(user + system < 600_000, `${user + system} µs of CPU for ${text.slice(0, 20)}`);
  }
});
