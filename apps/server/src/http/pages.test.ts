import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openApp } from '../../../../packages/testkit/src/plane/http/open-app.ts';

const pages = await mkdtemp(join(tmpdir(), 'lodge-pages-'));
await mkdir(join(pages, 'assets'));
await writeFile(join(pages, 'index.html'), '<!doctype html><title>Lodge</title>');
const area = await openApp({ api: (usual) => ({ ...usual, pages }) });
after(async () => {
  await area.close();
  await rm(pages, { recursive: true });
});

const asBrowser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

test('a browser gets the dashboard at its addresses, and programs are told what they were', async () => {
  const opened = await area.call('GET', '/?x', { key: null, headers: asBrowser });
  assert.deepEqual([opened.status, opened.headers['content-type']], [200, 'text/html; charset=utf-8']);
  assert.equal((await area.call('HEAD', '/', { key: null, headers: asBrowser })).status, 200);
  for (const path of ['/agents', '/agents/one/logs?level=error', '/host']) {
    assert.equal((await area.call('GET', path, { key: null, headers: asBrowser })).status, 200, path);
    assert.equal((await area.call('GET', path, { key: null })).status, 401, path);
    assert.equal((await area.call('GET', path)).body.error.code, 'route_not_found', path);
  }
  for (const path of ['/agentsx', '/nothing', '/v1x']) {
    const nowhere = await area.call('GET', path, { key: null, headers: asBrowser });
    assert.deepEqual([nowhere.status, nowhere.headers['content-type']], [404, 'text/html; charset=utf-8'], path);
    assert.equal((await area.call('GET', path, { key: null })).status, 401, path);
  }
  const program = await area.call('GET', '/', { key: null, headers: { accept: '*/*' } });
  assert.deepEqual([program.status, program.body.error.code], [401, 'missing_api_key']);
  assert.equal((await area.call('GET', '/', { headers: asBrowser })).status, 404, 'with a key');
  assert.equal((await area.call('POST', '/', { key: null, headers: asBrowser })).status, 401);
  assert.equal((await area.call('GET', '/v1/nothing', { key: null, headers: asBrowser })).status, 401);
});
