/** Tests which installed versions agents may get, and the obstacles of one. */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createImageBuilder, createRuntimeVersions, ImageError, InstalledVersions, newestFirst } from '../index.ts';
import type { Verdict } from '../index.ts';
import { imagesDir, silent } from '../testing.ts';
import { adapt, missingEdits } from './edits.ts';
import { requirementsOf } from './prepare.ts';

const folder = mkdtempSync('/tmp/lodge-versions-');
after(() => rmSync(folder, { recursive: true }));

const variant = 'hermes-config-1';
const passed: Omit<Verdict, 'image'> = { variant, passed: true, failure: null, at: '2026-11-23T00:00:00.000Z' };
const own = { version: null, image: 'hermes' };

/** Makes a data folder with a version of Hermes that differs from Lodge's own in one file. */
function open(name: string) {
  const installed = new InstalledVersions(join(folder, name));
  const images = createImageBuilder({ cacheDir: join(folder, 'cache'), versionsDir: installed.folder, log: silent });
  const recipe = installed.recipeOf('hermes', '0.18.2');
  cpSync(join(imagesDir, 'hermes'), recipe, { recursive: true });
  writeFileSync(join(recipe, 'files/etc/lodge/runtime.json'), '{"other":true}');
  return { installed, images, recipe, versions: createRuntimeVersions({ installed, images, log: silent }) };
}

test('a version is offered once it has passed, for new agents and for upgrades each by itself', async () => {
  const { installed, images, versions } = open('passed');
  const there = { version: '0.18.2', image: 'hermes@0.18.2' };
  assert.deepEqual(await versions.offered('hermes', variant), { fresh: own, upgrade: own });
  const image = await images.idOf('hermes@0.18.2');
  assert.notEqual(image, await images.idOf('hermes'));
  await installed.writeVerdict('hermes', '0.18.2', { ...passed, image });
  assert.deepEqual(await versions.offered('hermes', variant), { fresh: own, upgrade: own }, 'nobody has said so yet');
  await installed.writeOffer('hermes', { fresh: null, upgrade: '0.18.2' });
  assert.deepEqual(await versions.offered('hermes', variant), { fresh: own, upgrade: there });
  await installed.writeOffer('hermes', { fresh: '0.18.2', upgrade: '0.18.2' });
  assert.deepEqual(await versions.offered('hermes', variant), { fresh: there, upgrade: there });
  assert.deepEqual(await versions.offered('openclaw', variant), {
    fresh: { version: null, image: 'openclaw' },
    upgrade: { version: null, image: 'openclaw' },
  });
});

test('what was not tested as it is now is given to nobody', async () => {
  const { installed, images, recipe, versions } = open('not-passed');
  await installed.writeOffer('hermes', { fresh: '0.18.2', upgrade: '0.18.2' });
  const image = await images.idOf('hermes@0.18.2');
  const isOffered = async (wanted = variant): Promise<boolean> =>
    (await versions.offered('hermes', wanted)).fresh.version !== null;
  assert.equal(await isOffered(), false, 'without a verdict, as a kill leaves it');
  const failure = { step: 'conformance', case: 'an answer streams', reason: 'no' } as const;
  await installed.writeVerdict('hermes', '0.18.2', { ...passed, image, passed: false, failure });
  assert.equal(await isOffered(), false, 'failed');
  await installed.writeVerdict('hermes', '0.18.2', { ...passed, image: '0'.repeat(32) });
  assert.equal(await isOffered(), false, 'another image has passed');
  await installed.writeVerdict('hermes', '0.18.2', { ...passed, image });
  assert.equal(await isOffered(), true);
  assert.equal(await isOffered('hermes-config-2'), false, 'warmed up in another way');
  writeFileSync(join(recipe, 'files/etc/lodge/runtime.json'), '{"other":"again"}');
  assert.equal(await isOffered(), false, 'its recipe was changed after the tests');
  await installed.remove('hermes', '0.18.2');
  assert.equal(await isOffered(), false, 'removed');
  writeFileSync(join(installed.folder, 'hermes', 'offer.json'), '{"fresh": "0.18');
  assert.equal(await isOffered(), false, 'a file that is not whole');
});

test('no name of a version leads out of the folder', async () => {
  const { images, installed } = open('names');
  for (const version of ['../0.18.2', '..', '0/../../x', '', '0.18.2/recipe', `0${'1'.repeat(64)}`]) {
    await assert.rejects(images.idOf(`hermes@${version}`), ImageError, version);
    assert.throws(() => installed.folderOf('hermes', version), ImageError, version);
  }
  await assert.rejects(images.idOf('hermes@0.20.0'), /no usable image recipe/);
});

test('changes that have no place in a version are named, each with why', async () => {
  const files = join(folder, 'package');
  mkdirSync(join(files, 'dist'), { recursive: true });
  writeFileSync(join(files, 'dist/a-1.mjs'), 'const wait = 5;\nconst wait2 = 5;\nfirst();\n');
  writeFileSync(join(files, 'dist/b-1.mjs'), 'x');
  writeFileSync(join(files, 'dist/b-2.mjs'), 'x');
  const edits = [
    { file: 'dist/a-*.mjs', from: 'first()', to: 'second()' },
    { file: 'dist/a-*.mjs', from: 'second()', to: 'third()' },
    { file: 'dist/a-*.mjs', from: ' = 5', to: ' = 9' },
    { file: 'dist/a-*.mjs', from: 'gone', to: '' },
    { file: 'dist/b-*.mjs', from: 'x', to: 'y' },
    { file: 'dist/c.mjs', from: 'x', to: 'y' },
  ];
  assert.deepEqual(await missingEdits(files, edits.slice(0, 2)), [], 'a later one sees an earlier one’s text');
  const missing = await missingEdits(files, edits);
  assert.deepEqual(missing, [
    'change 3 of 6, dist/a-*.mjs (“= 5”): its text is there 2 times',
    'change 4 of 6, dist/a-*.mjs (“gone”): its text is not there',
    'change 5 of 6, dist/b-*.mjs (“x”): there are 2 such files',
    'change 6 of 6, dist/c.mjs (“x”): there is no such file',
  ]);
  const by = [{ file: 'dist/a-*.mjs', from: 'wait2 = 5', to: 'wait2 = 9' }];
  const instead = [{ of: edits[2]!, by }, ...edits.slice(3).map((of) => ({ of, by: [] }))];
  assert.deepEqual(await missingEdits(files, adapt(edits, { instead })), []);
  const unknown = { instead: [{ of: { file: 'dist/a-*.mjs', from: 'never' }, by: [] }] };
  assert.throws(() => adapt(edits, unknown), /names a change that the recipe does not have once/);
});

test('the adaptations that come with Lodge fit its recipes', async () => {
  const { readFileSync, readdirSync } = await import('node:fs');
  for (const runtime of readdirSync(join(imagesDir, 'adapted'))) {
    const recipe = JSON.parse(readFileSync(join(imagesDir, runtime, 'recipe.json'), 'utf8'));
    for (const file of readdirSync(join(imagesDir, 'adapted', runtime))) {
      const adaptation = JSON.parse(readFileSync(join(imagesDir, 'adapted', runtime, file), 'utf8'));
      adapt((recipe.python ?? recipe.npm).replace, adaptation);
    }
  }
});

test('versions are ordered by their numbers', () => {
  const versions = ['0.9.2', '0.18.2', '0.18.10', '0.18', '2026.9.6'];
  assert.deepEqual(versions.sort(newestFirst), ['2026.9.6', '0.18.10', '0.18.2', '0.18', '0.9.2']);
});

test('what pip reports becomes requirements with hashes, and a package without one is refused', () => {
  const report = (hashes: object): string =>
    JSON.stringify({
      install: [
        { metadata: { name: 'ruamel.yaml', version: '0.18.17' }, download_info: { archive_info: { hashes } } },
        { metadata: { name: 'Markdown', version: '3.10.2' }, download_info: { archive_info: { hashes } } },
      ],
    });
  const lines = 'markdown==3.10.2 \\\n    --hash=sha256:ab\nruamel-yaml==0.18.17 \\\n    --hash=sha256:ab\n';
  assert.equal(requirementsOf(report({ sha256: 'ab' })), lines);
  assert.throws(() => requirementsOf(report({})), /gives no SHA-256 for ruamel\.yaml 0\.18\.17/);
});
