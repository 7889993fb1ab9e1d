/** Tests the builder on the real `base` recipe, in the cache that all of Lodge's tests share (built there when absent). */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Image } from '@lodge/ports';
import { createImageBuilder, ImageError } from './index.ts';
import { imagesDir, notRoot, sharedBuilder, silent } from './testing.ts';

let image: Image;
let folder = '';
before(async () => {
  folder = mkdtempSync('/tmp/lodge-images-');
  if (notRoot === false) image = await sharedBuilder().ensure('base', () => undefined, new AbortController().signal);
});
after(() => rmSync(folder, { recursive: true }));

test('the base image is complete, and is found without being built again', { skip: notRoot }, async () => {
  const builder = sharedBuilder();
  assert.deepEqual(await builder.find('base'), image);
  assert.equal(image.id, await builder.idOf('base'));
  const steps: string[] = [];
  assert.deepEqual(await builder.ensure('base', (step) => steps.push(step), new AbortController().signal), image);
  assert.deepEqual(steps, []);
  const info = spawnSync('qemu-img', ['info', '--output=json', image.rootDisk], { encoding: 'utf8' });
  const facts = JSON.parse(info.stdout) as Record<string, unknown>;
  assert.equal(facts['format'], 'qcow2');
  assert.equal(facts['virtual-size'], 10 * 1024 ** 3);
  assert.ok(statSync(image.rootDisk).size < 500 * 1024 ** 2);
  const manifest = JSON.parse(readFileSync(join(dirname(image.rootDisk), 'manifest.json'), 'utf8')) as {
    facts: { debian: { kernel: string; packages: Record<string, string> } };
  };
  assert.match(manifest.facts.debian.kernel, /^linux-image-\S+ \S+$/);
  assert.ok(manifest.facts.debian.packages['libc6'], 'the versions of the Debian packages are recorded');
});

test('a damaged image is noticed', { skip: notRoot }, async () => {
  const copy = join(folder, 'damaged/images', image.id);
  mkdirSync(copy, { recursive: true });
  for (const name of readdirSync(dirname(image.rootDisk))) {
    try {
      linkSync(join(dirname(image.rootDisk), name), join(copy, name));
    } catch {
      cpSync(join(dirname(image.rootDisk), name), join(copy, name)); // It is another file system.
    }
  }
  const builder = createImageBuilder({ cacheDir: join(folder, 'damaged'), log: silent });
  const found = await builder.find('base');
  assert.equal(found?.rootDisk, join(copy, basename(image.rootDisk)));
  rmSync(found.initrd);
  writeFileSync(found.initrd, 'short');
  assert.equal(await builder.find('base'), null);
});

test("an image's id follows its recipe's files, and not the place or time of the build", async () => {
  const sourceDir = join(folder, 'recipes');
  for (const name of ['base', 'openclaw']) cpSync(join(imagesDir, name), join(sourceDir, name), { recursive: true });
  const idsNow = async (): Promise<[string, string]> => {
    const builder = createImageBuilder({ cacheDir: folder, sourceDir, log: silent });
    return [await builder.idOf('base'), await builder.idOf('openclaw')];
  };
  const [base, openclaw] = await idsNow();
  assert.notEqual(base, openclaw);
  assert.deepEqual([base, openclaw], [await sharedBuilder().idOf('base'), await sharedBuilder().idOf('openclaw')]);
  writeFileSync(join(sourceDir, 'openclaw/files/etc/lodge/runtime.json'), '{}');
  const [sameBase, otherOpenclaw] = await idsNow();
  assert.equal(sameBase, base);
  assert.notEqual(otherOpenclaw, openclaw);
  writeFileSync(join(sourceDir, 'base/files/etc/hostname'), 'other\n');
  const [otherBase, thirdOpenclaw] = await idsNow();
  assert.notEqual(otherBase, base);
  assert.notEqual(thirdOpenclaw, otherOpenclaw, 'what changes the base changes what lies on it');
});

test('an unknown recipe and an unusable cache folder are told as such', async () => {
  writeFileSync(join(folder, 'file'), '');
  const builder = createImageBuilder({ cacheDir: join(folder, 'file/cache'), log: silent });
  await assert.rejects(builder.idOf('../openclaw'), ImageError);
  await assert.rejects(builder.idOf('nothing'), /no usable image recipe nothing/);
  const ensure = builder.ensure('base', () => undefined, new AbortController().signal);
  await assert.rejects(ensure, notRoot === false ? /cache folder .* cannot be written/ : /needs root/);
});

test('no committed lockfile names a registry', () => {
  for (const [recipe, locked] of [
    ['base', /"npm": "11\.\d+\.\d+"/],
    ['openclaw', /"openclaw": "2026\.9\.6"/],
  ] as const) {
    const lock = readFileSync(join(imagesDir, recipe, 'package-lock.json'), 'utf8');
    assert.doesNotMatch(lock, /"resolved"/);
    assert.match(lock, locked);
  }
});
