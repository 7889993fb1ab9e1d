import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { openApp } from '../../../../../packages/testkit/src/plane/http/open-app.ts';

const parent = await mkdtemp(join(tmpdir(), 'lodge-documents-'));
const folder = join(parent, 'dist');
await writeFile(join(parent, 'secret.txt'), 'secret');
const served = await openApp({
  api: (usual) => ({ ...usual, documents: folder, pages: null }),
});
after(async () => {
  await served.close();
  await rm(parent, { recursive: true });
});
const put = async (file: string, text: string): Promise<void> => {
  await mkdir(dirname(join(folder, file)), { recursive: true });
  await writeFile(join(folder, file), text);
};
const get = (url: string) => served.app.inject({ url });

test('before the site is built, /docs leads to the reference of the API', async () => {
  const { statusCode, headers } = await get('/docs/');
  assert.deepEqual([statusCode, headers.location], [302, '/docs/reference/api/']);
  assert.equal((await get('/docs/guides/usage')).json().error.code, 'route_not_found');
  assert.equal((await get('/llms.txt')).statusCode, 404);
});

test('a site that is built meanwhile is served, and so is the next one', async () => {
  await put('index.html', 'first');
  await put('404.html', 'nothing');
  await put('guides/usage.html', 'usage');
  await put('guides/usage.md', '# Usage');
  await put('guides/channels/index.html', 'channels');
  await put('assets/app.1.js', 'script');
  await put('llms.txt', '# Lodge');
  await put('.built-from', '1');
  for (const [path, body] of [
    ['/docs/', 'first'],
    ['/docs/guides/usage?x', 'usage'],
    ['/docs/guides/usage.md', '# Usage'],
    ['/docs/guides/channels/', 'channels'],
    ['/llms.txt', '# Lodge'],
  ] as const) {
    const answer = await get(path);
    assert.deepEqual([answer.statusCode, answer.body], [200, body], path);
    assert.match(String(answer.headers['content-security-policy']), /script-src 'self';/);
    assert.equal(answer.headers['cache-control'], 'no-cache');
  }
  await put('index.html', 'second');
  await put('.built-from', '2');
  assert.equal((await get('/docs/')).body, 'second');
});

test('an address has one form, assets stay, and what is not there is a page that says so', async () => {
  for (const [path, location] of [
    ['/docs', '/docs/'],
    ['/docs/index.html', '/docs/'],
    ['/docs/guides/usage/', '/docs/guides/usage'],
    ['/docs/guides/usage.html', '/docs/guides/usage'],
    ['/docs/guides/channels', '/docs/guides/channels/'],
  ]) {
    assert.equal((await get(path!)).headers.location, location, path);
  }
  assert.match(String((await get('/docs/assets/app.1.js')).headers['cache-control']), /immutable/);
  const missing = await get('/docs/guides/nothing');
  assert.deepEqual([missing.statusCode, missing.body], [404, 'nothing']);
  assert.equal((await get('/docs/reference/api/')).statusCode, 200, 'beside the site');
});

test('no path leads out of the folder, or to a hidden file', async () => {
  for (const path of [
    '../secret.txt',
    '..%2fsecret.txt',
    '%2e%2e/secret.txt',
    './../secret.txt',
    '//secret.txt',
    '.built-from',
    'guides/../.built-from',
  ]) {
    const { statusCode, body } = await get(`/docs/${path}`);
    assert.ok(statusCode >= 400 && !body.includes('secret'), `${path}: ${statusCode} ${body}`);
  }
});

test('without pages of the dashboard there is nothing for a browser beside the site', async () => {
  assert.equal((await served.call('GET', '/', { key: null, headers: { accept: 'text/html' } })).status, 401);
});
