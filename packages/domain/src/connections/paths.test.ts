import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isAllowed } from './connection.ts';
import { isCanonicalPath, isPathPattern, isPlainQuery, matchesPattern, withPlainScopes } from './paths.ts';

test('a path that is written in the one plain way is canonical', () => {
  for (const path of [
    '/',
    '/a',
    '/a/',
    '/a/b.json',
    '/v1/users/me:rename',
    '/a/..b/...',
    "/~x/$metadata/(a,b)='c'",
    '/a%20b',
    '/%C3%A4/%E6%97%A5',
    '/a@b+c&d=e*',
    `/${'a'.repeat(2_047)}`,
  ]) {
    assert.ok(isCanonicalPath(path), path);
  }
});

test('a path that two servers could read as two is refused, and not normalised', () => {
  const table: Readonly<Record<string, readonly string[]>> = {
    'no path': ['', 'a', 'https://x/a', '*'],
    'dot segments': ['/.', '/..', '/a/../b', '/a/./b', '/a/..', '/a/.', '/../a'],
    'encoded dots': ['/%2e%2e/a', '/a/%2E%2E/b', '/a/.%2E/b', '/a/%2E'],
    'empty segments': ['//', '//a', '/a//b', '/a//'],
    'encoded slashes': ['/a%2Fb', '/a%2fb', '/a%5Cb', '/a%5cb'],
    backslashes: ['/a\\b', '\\a', '/..\\a'],
    'encoded twice': ['/%252e%252e/a', '/a%252Fb', '/%25'],
    parameters: ['/a;b=c', '/a;/b', '/a%3Bb', '/..;/a'],
    'needless encodings': ['/%61', '/%41dmin', '/a%2Db', '/a%7Eb'],
    'encodings in small letters': ['/%c3%a4', '/a%2f'],
    'broken encodings': ['/%', '/%4', '/%zz', '/%C3', '/%C0%AF', '/%E0%80%AF', '/%ED%A0%80', '/%FF'],
    'wide and odd signs': ['/a%EF%BC%8Fb', '/%EF%BC%8E%EF%BC%8E/a', '/%E2%80%A5/a', '/a%EF%BC%BCb'],
    'letters in pieces': ['/a%CC%88', '/%E2%84%AB'],
    'no ASCII': ['/ä', '/日', '/a\u2215b', '/\uff0f'],
    'invisible signs': [
      '/%00',
      '/a%00.json',
      '/%0A',
      '/%0D%0A',
      '/%7F',
      '/%C2%A0',
      '/%E2%80%8B',
      '/%E2%80%AE',
      '/a b',
      '/a\tb',
      '/a\r\nb',
    ],
    'query and fragment': ['/a?b', '/a#b', '/a%3Fb', '/a%23b'],
    'signs of no path': ['/a"b', '/<a>', '/a|b', '/{a}', '/a^b', '/`a`', '/[a]'],
    'too long': [`/${'a'.repeat(2_048)}`],
  };
  for (const [name, paths] of Object.entries(table)) {
    for (const path of paths) assert.ok(!isCanonicalPath(path), `${name}: ${path}`);
  }
});

test('names of packages in scopes are written plainly, and no other encoding becomes a slash', () => {
  for (const [given, plain] of [
    ['/@acme%2fsite', '/@acme/site'],
    ['/@acme%2Fsite', '/@acme/site'],
    ['/-/package/@acme%2fsite.js/dist-tags/next', '/-/package/@acme/site.js/dist-tags/next'],
    ['/npm/@a-b%2fc_d~e/-/c-1.0.0.tgz', '/npm/@a-b/c_d~e/-/c-1.0.0.tgz'],
    ['/@acme/site', '/@acme/site'],
  ] as const) {
    assert.equal(withPlainScopes(given), plain);
    assert.ok(isCanonicalPath(plain), plain);
  }
  for (const path of [
    '/a%2fb',
    '/acme%2fsite',
    '/a@acme%2fsite',
    '/@%2fsite',
    '/@acme%2f',
    '/@acme%2f..',
    '/@acme%2f.',
    '/@acme%2f.hidden',
    '/@..%2fsite',
    '/@.%2fsite',
    '/@acme%2f..%2fadmin',
    '/@acme%2fsite%2fadmin',
    '/@acme%2f@other%2fsite',
    '/@acme%2f%2fsite',
    '/@acme%2f%2e%2e',
    '/@acme%2f%2e%2e%2fadmin',
    '/@acme%2e%2e%2fsite',
    '/@acme%252fsite',
    '/@acme%25%32fsite',
    '/%40acme%2fsite',
    '/%2540acme%2fsite',
    '/@acme%5csite',
    '/@acme%2fsite%00',
    '/@acme%2fsite;x',
    '/@acme%2fsite%3fa',
    '/@acme%2f%73ite',
    '/@acme%c0%afsite',
    '/@acme%EF%BC%8Fsite',
    '/@acme%2fsite/../admin',
    '/@acme%2fsite//admin',
    '/@acme\\..%2fsite',
    `/@acme%2fsite/${'a'.repeat(2_048)}`,
  ])
    assert.ok(!isCanonicalPath(withPlainScopes(path)), path);
});

test('what no URL parser changes is what is canonical', () => {
  for (const path of ['/a', '/a/', '/a%20b', '/%C3%A4', "/(a)'*,b", '/...']) {
    assert.equal(new URL(`https://x${path}`).pathname, path);
  }
});

test('a pattern is a whole path, or ends in a star of its own', () => {
  for (const pattern of ['/', '/a', '/*', '/a/*', '/a/b/*']) assert.ok(isPathPattern(pattern), pattern);
  for (const pattern of ['', '*', '/a*', '/*/a', '/**', '/a/**', '/a/../*', 'a/*', '/a//*', '/%61/*']) {
    assert.ok(!isPathPattern(pattern), pattern);
  }
});

test('what a pattern names, and what it does not', () => {
  const table: readonly (readonly [string, string, boolean])[] = [
    ['/a', '/a', true],
    ['/a', '/a/', false],
    ['/a', '/a/b', false],
    ['/a', '/A', false],
    ['/a/*', '/a/b', true],
    ['/a/*', '/a/b/c', true],
    ['/a/*', '/a/', true],
    ['/a/*', '/a', false],
    ['/a/*', '/ab', false],
    ['/a/*', '/b', false],
    ['/*', '/', true],
    ['/*', '/a/b', true],
  ];
  for (const [pattern, path, expected] of table)
    assert.equal(matchesPattern(pattern, path), expected, `${pattern} ${path}`);
});

test('method and path are of one entry', () => {
  const allow = [
    { methods: ['GET'], paths: ['/read/*'] },
    { methods: ['POST'], paths: ['/write'] },
  ] as const;
  assert.ok(isAllowed(allow, 'GET', '/read/a'));
  assert.ok(isAllowed(allow, 'POST', '/write'));
  assert.ok(!isAllowed(allow, 'POST', '/read/a'));
  assert.ok(!isAllowed(allow, 'GET', '/write'));
  assert.ok(!isAllowed(allow, 'HEAD', '/read/a'));
  assert.ok(!isAllowed(allow, 'get', '/read/a'));
});

test('a query is plain ASCII', () => {
  for (const query of ['', 'a=b&c=%2F..', 'q=[1]{2}|^`']) assert.ok(isPlainQuery(query), query);
  for (const query of ['a b', 'a#b', 'ä', 'a\r\nb', 'a\\b', 'a"b', "a'b", 'a<b', 'x'.repeat(8_193)]) {
    assert.ok(!isPlainQuery(query), query);
  }
});
