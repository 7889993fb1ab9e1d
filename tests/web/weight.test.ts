/** The first load of every page of the dashboard: bounded, from this server alone, and nothing of it inline. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { buildPages } from './place.ts';

const dist = join(import.meta.dirname, '../../apps/web/dist');
const maxBytes = 150 * 1024;

test('the first load is at most 150 KiB of compressed script, from this server, with nothing inline', async (t) => {
  await buildPages();
  const html = await readFile(join(dist, 'index.html'), 'utf8');
  const addresses = [...html.matchAll(/\b(?:src|href)="([^"]*)"/g)].map(([, address]) => address!);
  for (const address of addresses) assert.match(address, /^\/account\/assets\//);
  assert.doesNotMatch(html, /<style|\sstyle=|\son[a-z]+=|<script(?![^>]*\bsrc=)/);
  const scripts = addresses.filter((address) => address.endsWith('.js'));
  assert.ok(scripts.length > 0);
  let bytes = 0;
  for (const script of scripts) {
    bytes += gzipSync(await readFile(join(dist, script.replace('/account/', ''))), { level: 9 }).length;
  }
  t.diagnostic(`${bytes} bytes in ${scripts.length} files`);
  assert.ok(bytes <= maxBytes, `${bytes} bytes`);
});
