import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkedTerms, isConnectionName } from './connection.ts';
import { isCredentialHeader, mayBeSet } from './headers.ts';
import type { ConnectionTerms } from './connection.ts';

const allow = [{ methods: ['GET'], paths: ['/a', '/b/*'] }] as const;
const http = (change: Partial<ConnectionTerms> = {}, insecure = false) =>
  checkedTerms({ kind: 'http', url: 'https://api.example.com/v1', allow, tools: undefined, ...change }, { insecure });

test('a URL is kept plain', () => {
  assert.equal(http().url, 'https://api.example.com/v1');
  assert.equal(http({ url: 'https://API.example.com:443/v1/' }).url, 'https://api.example.com/v1');
  assert.equal(http({ url: 'https://api.example.com' }).url, 'https://api.example.com');
  assert.equal(http({ url: 'http://10.0.0.1:8080/' }, true).url, 'http://10.0.0.1:8080');
});

test('a URL that says more than where, or says it in two ways, is refused', () => {
  const wrong: readonly (readonly [string, RegExp])[] = [
    ['http://api.example.com', /https/],
    ['ftp://api.example.com', /https/],
    ['no url', /^url/],
    ['https://u:p@api.example.com/', /user/],
    ['https://u@api.example.com/', /user/],
    ['https://api.example.com/?key=1', /query/],
    ['https://api.example.com/#a', /fragment/],
    ['https://api.example.com/a/../b', /plain path/],
    ['https://api.example.com//a', /plain path/],
    ['https://api.example.com/%61', /plain path/],
    ['https://api.example.com/a;b', /plain path/],
    ['https:\\\\api.example.com\\a', /^url/],
  ];
  for (const [url, message] of wrong) assert.throws(() => http({ url }), { code: 'invalid_request', message }, url);
});

test('each kind has terms of its own', () => {
  assert.throws(() => http({ allow: undefined }), /allow is required/);
  assert.throws(() => http({ allow: [] }), /allow is required/);
  assert.throws(() => http({ tools: ['a'] }), /tools is for kind mcp/);
  assert.throws(() => http({ kind: 'mcp' }), /allow is for kinds http and host/);
  assert.throws(
    () => http({ allow: [allow[0], { methods: ['GET'], paths: ['/ok', '/a/../b'] }] }),
    /allow\[1\].paths\[1\]/,
  );
  assert.deepEqual(http({ kind: 'mcp', allow: undefined, tools: ['a', 'a'] }).tools, ['a']);
  assert.equal(http({ kind: 'mcp', allow: undefined }).tools, null);
});

test('names and headers', () => {
  for (const name of ['a', 'github', 'my-api-2']) assert.ok(isConnectionName(name), name);
  for (const name of ['', 'A', '1a', 'a_b', 'a-', '-a', 'a/b', '..', 'a'.repeat(33)])
    assert.ok(!isConnectionName(name), name);
  for (const name of ['authorization', 'x-api-key', 'cookie'])
    assert.ok(mayBeSet(name) && isCredentialHeader(name), name);
  for (const name of ['host', 'content-length', 'transfer-encoding', 'mcp-session-id'])
    assert.ok(!mayBeSet(name), name);
  for (const name of ['accept', 'notion-version', 'openai-organization', 'x-account-id', 'x-goog-project'])
    assert.ok(!isCredentialHeader(name), name);
});
