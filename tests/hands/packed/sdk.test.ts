/**
 * The packed SDK, installed into an empty folder, against the real API: on this Node and the host's own, and in Chromium. The
 * long form has Node 20, 22 and 24, Bun and Deno.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFile, mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { isLongRun } from '@lodge/testkit/forms';
import { maxGzipBytes, packSdk } from '../../../scripts/sdk/pack.ts';
import type { Packed } from '../../../scripts/sdk/pack.ts';
import { openWorld } from '../../e2e/api/world.ts';
import type { World } from '../../e2e/api/world.ts';
import { launch } from '../../web/browser.ts';
import { Place, bun, deno, hostNode, nodes } from './engines.ts';

const run = promisify(execFile);
/** A page's origin, which the API lets call it. Nothing listens there: the browser is given the page by the test. */
const pageOrigin = 'http://127.0.0.1:45678';
let world: World;
let place: Place;
let packed: Packed;
before(async () => {
  world = await openWorld({ withGuest: true, settings: { LODGE_CORS_ORIGINS: pageOrigin } });
  place = await Place.open();
  packed = await packSdk(join(place.folder, 'tarballs'));
  place.install(packed.path);
  await copyFile(new URL('use.mjs', import.meta.url), join(place.folder, 'use.mjs'));
  await mkdir(join(place.folder, 'files/deep'), { recursive: true });
  for (const name of ['a.txt', 'deep/b.txt']) await place.write(`files/${name}`, name);
});
after(() => Promise.all([world?.close(), place?.close()]));

async function works(command: readonly string[]): Promise<void> {
  const { folder } = place;
  await rm(join(folder, 'files-back'), { recursive: true, force: true });
  const [program, ...args] = [...command, 'use.mjs', world.url, world.key, join(folder, 'files')];
  const { stdout } = await run(program, args, { cwd: folder, timeout: 120_000 });
  assert.equal(stdout.trim(), 'ok');
}

test('a page loads less than its bound', () => {
  assert.ok(packed.gzipBytes < maxGzipBytes, `${packed.gzipBytes} bytes`);
});

test('it works on this Node and on the one of the host', async () => {
  await works([process.execPath]);
  if (hostNode[0] !== process.execPath) await works(hostNode);
});

for (const engine of isLongRun ? [...nodes, bun, deno] : [])
  test(`it works on ${engine.name}`, async () => works(await place.engine(engine)));

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
      if (path !== '/') return route.fulfill({ contentType: script, body: await readFile(join(place.folder, file)) });
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
