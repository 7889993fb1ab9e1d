import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRedirectUri, isSameRedirect, redirectHost, redirectWith } from './redirects.ts';

test('a client registers https, the loopback and schemes of programs, and nothing that a browser obeys', () => {
  for (const good of [
    'https://claude.ai/api/mcp/auth_callback',
    'https://example.com:8443/cb?x=1',
    'http://127.0.0.1:33418/callback',
    'http://localhost/callback',
    'http://[::1]:7/',
    'cursor://anysphere.cursor-mcp/oauth/callback',
    'com.example.app:/callback',
  ]) {
    assert.ok(isRedirectUri(good), good);
  }
  for (const bad of [
    '',
    'x',
    '/callback',
    'http://example.com/cb',
    'http://127.0.0.1.example.com/cb',
    'http://localhost.example.com/cb',
    'http://0x7f.1.example/cb',
    'https://example.com/cb#',
    'https://example.com/cb#x',
    'https://u:p@example.com/cb',
    'https://example.com\\@evil.example/cb',
    'https://exämple.com/cb',
    'https://example.com/a b',
    'javascript:alert(1)',
    'JavaScript://%0aalert(1)',
    'data:text/html,x',
    'vbscript:x',
    'file:///etc/passwd',
    'blob:https://example.com/x',
    'ms-msdt:/id',
    'intent://x#Intent;end',
    `https://example.com/${'x'.repeat(2_048)}`,
  ]) {
    assert.equal(isRedirectUri(bad), false, bad);
  }
});

test('an address is exactly the registered one, but for the port on the loopback', () => {
  const at = (registered: string, given: string) => isSameRedirect(registered, given);
  assert.ok(at('https://example.com/cb', 'https://example.com/cb'));
  assert.ok(at('http://127.0.0.1/cb', 'http://127.0.0.1:5000/cb'));
  assert.ok(at('http://localhost:1/cb?a=1', 'http://localhost:2/cb?a=1'));
  for (const [registered, given] of [
    ['https://example.com/cb', 'https://example.com/cb/'],
    ['https://example.com/cb', 'https://example.com:8443/cb'],
    ['https://example.com/cb', 'https://example.com/cb?x=1'],
    ['https://example.com/cb', 'https://EXAMPLE.com/cb'],
    ['https://example.com/cb', 'https://example.com/other/../cb'],
    ['http://127.0.0.1/cb', 'http://localhost/cb'],
    ['http://127.0.0.1/cb', 'https://127.0.0.1/cb'],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:5000/other'],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:5000@evil.example/cb'],
    ['javascript:alert(1)', 'javascript:alert(1)'],
  ] as const) {
    assert.equal(at(registered, given), false, `${registered} ${given}`);
  }
});

test('a person reads the host, and parameters are added to those that are there', () => {
  assert.equal(redirectHost('https://claude.ai/cb'), 'claude.ai');
  assert.equal(redirectHost('http://127.0.0.1:33418/cb'), '127.0.0.1:33418');
  assert.equal(redirectHost('cursor://anysphere.cursor-mcp/cb'), 'cursor');
  const answered = redirectWith('https://a.example/cb?x=1', { code: 'c', state: 'a&b=c#d', iss: undefined });
  assert.equal(answered, 'https://a.example/cb?x=1&code=c&state=a%26b%3Dc%23d');
});
