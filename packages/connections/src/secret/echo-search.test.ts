import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EchoSearch, Sought } from './echo-search.ts';
import { secretsOf } from './secrets.ts';

const token = 'mark-7Qx9/Zt+4&Lw=2Rk<8Vb';
const sought = new Sought(secretsOf({ authorization: `Bearer ${token}` }));
const foundIn = (chunks: readonly Buffer[], given = sought): boolean => {
  const search = new EchoSearch(given);
  return chunks.map((chunk) => search.push(chunk)).includes(true) || search.end();
};

const each = (way: (code: number, at: number) => string) =>
  Array.from(token, (sign, at) => way(sign.charCodeAt(0), at)).join('');
const hexOf = (code: number): string => code.toString(16).padStart(2, '0');
const base64 = (before: string, after = ''): string => Buffer.from(before + token + after).toString('base64');
/** Forms in which servers repeat what they were sent. */
const forms: Readonly<Record<string, string>> = {
  plain: token,
  JSON: JSON.stringify(token),
  'JSON with each sign escaped': each((code) => `\\u00${hexOf(code).toUpperCase()}`),
  'JSON with some signs escaped': token.replace('/', '\\/').replace('&', '\\u0026').replace('+', '\\u002B'),
  'JSON within JSON': JSON.stringify(JSON.stringify(token).replace('<', '\\u003c').replace('/', '\\/')),
  percent: encodeURIComponent(token),
  'percent in small letters': encodeURIComponent(token).replaceAll(/%../g, (code) => code.toLowerCase()),
  'percent of some signs': encodeURI(token),
  'percent of each sign': each((code) => `%${hexOf(code)}`),
  'percent twice': encodeURIComponent(encodeURIComponent(token)),
  HTML: token.replaceAll('&', '&amp;').replaceAll('<', '&lt;'),
  'HTML by numbers': each((code, at) => (at % 2 === 0 ? `&#${code};` : `&#x${hexOf(code)};`)),
  hex: Buffer.from(token).toString('hex'),
  'hex in capitals': Buffer.from(token).toString('hex').toUpperCase(),
  'UTF-16 LE': Buffer.from(token, 'utf16le').toString('latin1'),
  'UTF-16 BE': Buffer.from(token, 'utf16le').swap16().toString('latin1'),
  base64: base64(''),
  'base64 behind one byte': base64('x', 'more'),
  'base64 behind two bytes': base64('xy', 'z'),
  base64url: Buffer.from(`ab${token}`).toString('base64url'),
  'base64 in lines': base64('some text before it, longer than a line').replaceAll(/.{20}/g, '$&\r\n'),
  'base64 in JSON': JSON.stringify(base64('a')).replaceAll('/', '\\/'),
  'base64 in a query': encodeURIComponent(base64('ab')),
};

for (const [name, form] of Object.entries(forms)) {
  test(`a whole secret is found, wherever the bytes are cut: ${name}`, () => {
    const bytes = Buffer.from(`before ${form} after`, 'latin1');
    for (let at = 0; at <= bytes.length; at += 1) {
      assert.ok(foundIn([bytes.subarray(0, at), bytes.subarray(at)]), `cut at ${at}`);
    }
    assert.ok(foundIn(Array.from(bytes, (byte) => Buffer.from([byte]))), 'byte by byte');
    assert.ok(foundIn([Buffer.from(form, 'latin1')]), 'alone');
    assert.ok(foundIn([Buffer.alloc(9_001, '% \\u'), bytes]), 'far behind');
    assert.ok(form.length <= sought.formBytes);
  });
}

test('nothing but the whole of it is found', () => {
  for (const [name, form] of Object.entries(forms)) {
    const signs = name.startsWith('UTF') || name.startsWith('hex') ? 2 : 1;
    for (const part of [form.slice(signs + 1), form.slice(0, name.startsWith('base64 ') ? -6 : -(signs + 1))]) {
      if (name === 'JSON' || name.startsWith('JSON within') || name.startsWith('base64')) continue;
      assert.ok(!foundIn([Buffer.from(part, 'latin1')]), `${name}: ${part}`);
    }
  }
  for (let from = 0; from < token.length; from += 1) {
    for (let to = from + 1; to <= token.length; to += 1) {
      const part = token.slice(from, to);
      const written = [
        part,
        Buffer.from(part).toString('hex'),
        Buffer.from(part).toString('base64'),
        encodeURIComponent(part),
      ];
      assert.equal(sought.isIn(written.join(' ; ')), part === token, part);
    }
  }
});

test('what is secret of a value: not its scheme, but its token, its password and its parameters', () => {
  assert.deepEqual(secretsOf({ a: 'Bearer abcdefgh' }), ['abcdefgh']);
  const value = Buffer.from('user:password-1').toString('base64');
  assert.deepEqual(secretsOf({ a: `Basic ${value}` }), [value, 'user:password-1', 'password-1']);
  assert.ok(secretsOf({ cookie: 'a=1; session="abcdefghijkl"' }).includes('abcdefghijkl'));
  assert.ok(!secretsOf({ cookie: 'mode=darkmode; session="abcdefghijkl"' }).includes('darkmode'));
  assert.deepEqual(secretsOf({ a: 'short' }), []);
});

test('a secret that is no ASCII is found in both ways to write it', () => {
  const given = new Sought(['pässwörd-日']);
  assert.ok(given.isIn('x pässwörd-日 y') && given.isIn('p\\u00e4ssw&ouml;rd p&#228;ssw%C3%B6rd-\\u65e5'));
});

test('text costs in proportion to its length, whatever is in it, however much of a secret', () => {
  const long = new Sought(['a'.repeat(4_096)]);
  const costOf = (text: string, mib: number): number => {
    const bytes = Buffer.alloc(mib * 2 ** 20, text);
    const before = process.cpuUsage();
    assert.equal(foundIn([bytes], long), false);
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  const almost = `${'a'.repeat(4_095)}b`;
  costOf(almost, 1);
  const [none, half, one, four] = [
    costOf('-', 1),
    costOf(`${'a'.repeat(2_000)}b`, 1),
    costOf(almost, 1),
    costOf(almost, 4),
  ];
  assert.ok(four < 12 * one, `${one} and ${four} µs`);
  assert.ok(one < 4 * none && one < 4 * half && half < 4 * one, `${none}, ${half}, ${one} µs`);
});

test('a secret that was chosen for texts of an equal hash costs no comparison at each byte', () => {
  const signs = Buffer.alloc(4_000, 'n');
  const isOdd = (at: number): boolean => (at.toString(2).match(/1/g) ?? []).length % 2 === 1;
  for (let at = 0; at < 128; at += 1) signs[signs.length - 128 + at]! += isOdd(at) ? 1 : -1;
  const [chosen, plain] = [signs.toString(), 'x'.repeat(4_000)].map((secret) => new Sought([secret]));
  const costOf = (given: Sought): number => {
    const before = process.cpuUsage();
    foundIn([Buffer.alloc(32 * 1024, 'n')], given);
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  costOf(plain!);
  const [one, other] = [costOf(plain!), costOf(chosen!)];
  assert.ok(other < 4 * one, `${one} and ${other} µs`);
});
