/** The scanner against JSON.parse, wherever the text is cut, and against texts that are meant to be dear. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JsonFault, JsonScanner, requestBounds } from './scanner.ts';
import type { JsonKind } from './scanner.ts';

/** Scans in pieces of `size`; gives the scanner. */
function scanned(text: string | Buffer, size = Number.POSITIVE_INFINITY, bounds = requestBounds): JsonScanner {
  const bytes = Buffer.from(text);
  const scanner = new JsonScanner(bounds);
  for (let to = Math.min(size, bytes.length); scanner.at < bytes.length; to = Math.min(to + size, bytes.length)) {
    scanner.scan(bytes, to);
  }
  scanner.end();
  return scanner;
}

function isValid(text: string, size?: number): boolean {
  try {
    scanned(text, size);
    return true;
  } catch (error) {
    assert.ok(error instanceof JsonFault, String(error));
    return false;
  }
}

const good = [
  '{}',
  ' \t\r\n{ "a" : [ ] , "b":{"c":[1,-0,0.5,1e9,1E+2,2.5e-7,123456789012345678901234567890]} } \n',
  String.raw`{"\u0061\"\\\/\b\f\n\r\t":"\ud83d\ude00 \uD800 \u0000","":"","ü☃😀":null}`,
  '{"a":true,"b":false,"c":null,"d":[true,[false,[null]]]}',
  '{"n":1e999,"m":-1e999}',
  '{"a":"]}[{,:","b":["}"]}',
];
const bad = [
  '',
  ' ',
  '{',
  '}',
  '[]',
  '"x"',
  '1',
  'null',
  'true',
  '{}{}',
  '{}x',
  '{},',
  '[{}]',
  '{"a"}',
  '{"a":}',
  '{"a":1,}',
  '{,}',
  '{"a" 1}',
  '{"a":1 "b":2}',
  '{a:1}',
  "{'a':1}",
  '{1:1}',
  '{"a":1:2}',
  '{"a":[1,]}',
  '{"a":[,1]}',
  '{"a":[1 2]}',
  '{"a":[}',
  '{"a":{]}',
  '{"a":[1}',
  '{"a":[1]]}',
  '{"a":(1)}',
  '{"a":01}',
  '{"a":-}',
  '{"a":+1}',
  '{"a":.5}',
  '{"a":1.}',
  '{"a":1e}',
  '{"a":1e+}',
  '{"a":0x1}',
  '{"a":--1}',
  '{"a":1.2.3}',
  '{"a":1e2e3}',
  '{"a":1-2}',
  '{"a":-01}',
  '{"a":00}',
  '{"a":NaN}',
  '{"a":Infinity}',
  '{"a":tru}',
  '{"a":truE}',
  '{"a":nullx}',
  '{"a":falsefalse}',
  '{"a":undefined}',
  '{"a":"\n"}',
  '{"a":"\u0000"}',
  '{"a":"\u001f"}',
  '{"a":"x}',
  '{"a":"\\"}',
  '{"a":"\\x41"}',
  '{"a":"\\u12"}',

  '{"a":"\\u12g4"}',
  '{"a":"\\u"}',
  '{"\u0000":1}',
  '{"a\t":1}',
  '\ufeff{}',
  '{}\u0000',
  '{}\u00a0',
  '\u000b{}',
  '/**/{}',
];

test('what is JSON and what is not is as JSON.parse has it, in pieces of any size', () => {
  for (const size of [1, 2, 3, 7, 1000]) {
    for (const text of good) assert.ok(isValid(text, size), `${text} by ${size}`);
    for (const text of bad) assert.ok(!isValid(text, size), `${JSON.stringify(text)} by ${size}`);
  }
  for (const text of good) assert.doesNotThrow(() => void JSON.parse(text), text);
});

test('objects that are changed in one place are judged as JSON.parse judges them', () => {
  const base = String.raw`{"k\n":[1.5e3,-2,{"x":null,"y":[true,false]}],"s":"a\u00fc\"\\","e":{}}`;
  const letters = '{}[]",:\\u0123456789.eE+-tfn \n\u0000x'.split('');
  let [judged, valid] = [0, 0];
  for (let at = 0; at < base.length; at++) {
    for (const letter of letters) {
      for (const text of [
        base.slice(0, at) + letter + base.slice(at + 1),
        base.slice(0, at) + letter + base.slice(at),
      ]) {
        let expected = true;
        try {
          const value: unknown = JSON.parse(text);
          expected = typeof value === 'object' && !Array.isArray(value) && value !== null;
        } catch {
          expected = false;
        }
        assert.equal(isValid(text, 1 + (at % 5)), expected, text);
        judged++;
        if (expected) valid++;
      }
    }
  }
  assert.ok(valid > 200 && judged - valid > 2000, `${valid} of ${judged}`);
});

test('depth and values are bounded, and it is said which', () => {
  const nested = (levels: number): string => `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`;
  assert.doesNotThrow(() => scanned(nested(64)));
  assert.throws(() => scanned(nested(65)), { message: 'is nested deeper than 64 levels' });
  assert.throws(() => scanned(`{"a":${'['.repeat(5_000_000)}`), { message: 'is nested deeper than 64 levels' });
  const list = (values: number): string => `{"a":[${'0,'.repeat(values - 3)}0]}`;
  assert.doesNotThrow(() => scanned(list(200_000)));
  assert.throws(() => scanned(list(200_001)), { message: 'has more than 200000 values' });
});

test('a watcher is told of every key and value near the root, and where it is', () => {
  const text = ' {"a":{"b":[1,{"c":[2,[3]]}]}, "d\\n":"x" ,"e":-1.5e3}';
  for (const size of [1, 4, 100]) {
    const seen: string[] = [];
    const bytes = Buffer.from(text);
    const part = (start: number, end: number): string => bytes.toString('utf8', start, end);
    const scanner = new JsonScanner(requestBounds, {
      key: (_bytes, depth, start, end, escaped) =>
        void seen.push(`${depth} key ${part(start, end)}${escaped ? ' escaped' : ''}`),
      open: (depth, start, kind) => void seen.push(`${depth} ${kind} at ${start}`),
      value: (_bytes, depth, start, end, kind: JsonKind) => void seen.push(`${depth} ${kind} ${part(start, end)}`),
    });
    for (let to = size; scanner.at < bytes.length; to += size) scanner.scan(bytes, Math.min(to, bytes.length));
    scanner.end();
    assert.deepEqual(seen, [
      '0 object at 1',
      '1 key "a"',
      '1 object at 6',
      '2 key "b"',
      '2 array at 11',
      '3 number 1',
      '3 object at 14',
      '3 object {"c":[2,[3]]}',
      '2 array [1,{"c":[2,[3]]}]',
      '1 object {"b":[1,{"c":[2,[3]]}]}',
      String.raw`1 key "d\n" escaped`,
      '1 string "x"',
      '1 key "e"',
      '1 number -1.5e3',
      `0 object ${text.trim()}`,
    ]);
  }
});

test('images are told from text by their field and their length, across pieces too', () => {
  const run = 'iVBORw0KGgo'.repeat(1000);
  const weigh = (text: string, size?: number) => ({ ...scanned(text, size).weight });
  for (const size of [1, 1000, undefined]) {
    assert.deepEqual(weigh(`{"url":"data:image/png;base64,${run}=="}`, size), {
      embedded: 1,
      embeddedBytes: run.length,
    });
  }
  assert.deepEqual(weigh(`{"text":"${run}","list":["${run}"],"data":["${run}"],"${run}":1}`), {
    embedded: 0,
    embeddedBytes: 0,
  });
  assert.equal(weigh(`{"data":"${run.slice(0, 2047)} ${run.slice(0, 2047)}"}`).embedded, 0);
  assert.equal(weigh(`{"data":"${run}","a":{"b64_json":"${run}"}}`).embedded, 2);
});

test('what a text costs is in proportion to its length, whatever is in it', () => {
  const mebibyte = 1024 * 1024;
  const texts: Record<string, string> = {
    'runs of base64 that just end': `{"data":"${`${'A'.repeat(2047)} `.repeat(512)}"}`,
    'empty lists': `{"a":[${'[],'.repeat(60_000)}[]]}`,
    quotes: `{"a":"${'\\"'.repeat(mebibyte / 2)}"}`,
    backslashes: `{"a":"${'\\\\'.repeat(mebibyte / 2)}"}`,
    space: `{${' '.repeat(mebibyte)}}`,
    digits: `{"a":${'9'.repeat(mebibyte)}}`,
    letters: `{"a":"${'ü'.repeat(mebibyte / 2)}"}`,
  };
  for (const [name, text] of Object.entries(texts)) {
    const bytes = Buffer.from(text);
    const began = process.cpuUsage();
    const scanner = new JsonScanner(requestBounds);
    for (let to = 0; to < bytes.length; to += 4096) scanner.scan(bytes, Math.min(bytes.length, to + 4096));
    scanner.scan(bytes, bytes.length);
    const { user, system } = process.cpuUsage(began);
    // Some 10 ms; what is quadratic takes seconds.
    assert.ok((user + system) / 1000 < 500, `${name}: ${(user + system) / 1000} ms`);
  }
});
