import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Image } from '@lodge/ports';
import { baseImage } from '../../../conformance/base-image.ts';
import { chooseAccelerator, expectedAccelerator, tryBoot } from './accelerator.ts';

let folder: string;
let image: Image;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lodge-accelerator-'));
  image = await baseImage();
});
after(() => rm(folder, { recursive: true, force: true }));

test('a guest that comes up is recognised as such', { timeout: 660_000 }, async () => {
  // An emulated guest in an emulated machine takes minutes.
  assert.equal(await tryBoot('tcg', image, [], 600_000), '');
});

test('a guest that does not come up is given up after the time set, with the reason', async () => {
  const started = performance.now();
  assert.match(await tryBoot('tcg', image, [], 50), /not up in 0.05 s/);
  assert.ok(performance.now() - started < 60_000);
});

test('a QEMU that ends early tells its own words', async () => {
  assert.match(await tryBoot('tcg', { ...image, kernel: join(folder, 'none') }, []), /QEMU ended.*none/s);
});

test(
  'the answer for this host is found within a bound, kept, and not looked for twice',
  { timeout: 600_000 },
  async () => {
    const question = { setting: 'auto', cacheDir: folder, image, emulatorVersion: 'test' } as const;
    const hasKvm = (await stat('/dev/kvm').catch(() => null)) !== null;
    assert.equal(await expectedAccelerator(question), hasKvm ? null : 'tcg', 'nothing is tried to tell it');
    const answer = await chooseAccelerator(question);
    assert.equal(await expectedAccelerator(question), answer.accelerator);
    assert.notEqual(answer.reason, '');
    if (!hasKvm) {
      assert.equal(answer.accelerator, 'tcg');
      return;
    }
    const kept = JSON.parse(await readFile(join(folder, 'accelerator.json'), 'utf8')) as Record<string, string>;
    assert.equal(Object.keys(kept).length, 1);
    const other = answer.accelerator === 'kvm' ? 'told to fail' : '';
    await writeFile(join(folder, 'accelerator.json'), JSON.stringify({ [Object.keys(kept)[0]!]: other }));
    assert.notEqual((await chooseAccelerator(question)).accelerator, answer.accelerator);
    await chooseAccelerator({ ...question, emulatorVersion: 'another' });
    assert.equal(Object.keys(JSON.parse(await readFile(join(folder, 'accelerator.json'), 'utf8')) as object).length, 2);
  },
);

test('the operator’s word is taken', async () => {
  const question = { cacheDir: join(folder, 'none'), image, emulatorVersion: 'test' };
  assert.equal((await chooseAccelerator({ ...question, setting: 'tcg' })).accelerator, 'tcg');
  assert.equal((await chooseAccelerator({ ...question, setting: 'kvm' })).accelerator, 'kvm');
});
