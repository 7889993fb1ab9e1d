/** The command as an operator runs it, on a data folder without agents and a host that reaches no registry. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createImageBuilder, InstalledVersions } from '@lodge/images';
import { createHermesRuntime } from '@lodge/runtimes';

const folder = mkdtempSync(join(tmpdir(), 'lodge-runtimes-'));
after(() => rmSync(folder, { recursive: true }));

const dataDir = join(folder, 'data');
const cacheDir = join(folder, 'cache');
const entry = new URL('../main.ts', import.meta.url).pathname;
const nowhere = 'http://127.0.0.1:9';
const installed = new InstalledVersions(join(dataDir, 'runtimes'));
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const { version: own, templateVariant: variant } = createHermesRuntime();

interface Ended {
  readonly code: number;
  readonly said: string;
}

function lodge(...args: readonly string[]): Promise<Ended> {
  const { DATABASE_URL: _, NODE_TEST_CONTEXT: __, ...given } = process.env;
  const env = {
    ...given,
    LODGE_DATA_DIR: dataDir,
    LODGE_CACHE_DIR: cacheDir,
    npm_config_registry: nowhere,
    PIP_INDEX_URL: nowhere,
    PIP_RETRIES: '0',
  };
  return new Promise((resolve) => {
    execFile(process.execPath, [entry, 'runtimes', ...args], { env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), said: stdout + stderr });
    });
  });
}

/** Installs a version as an update leaves it. */
async function install(version: string, passed: boolean): Promise<void> {
  const recipe = installed.recipeOf('hermes', version);
  cpSync(new URL('../../../../../images/hermes', import.meta.url), recipe, { recursive: true });
  writeFileSync(join(recipe, 'files/etc/lodge/runtime.json'), JSON.stringify({ version }));
  const builder = createImageBuilder({ cacheDir, versionsDir: installed.folder, log: silent });
  const image = await builder.idOf(`hermes@${version}`);
  const failure = passed ? null : ({ step: 'conformance', case: 'an answer streams', reason: 'no' } as const);
  await installed.writeVerdict('hermes', version, { image, variant, passed, failure, at: new Date().toISOString() });
}

test('what is there and what is kept from agents is listed, also without a registry', async () => {
  await install('0.18.2', true);
  await install('0.18.1', false);
  const { code, said } = await lodge();
  assert.equal(code, 0, said);
  assert.match(
    said,
    new RegExp(`^  ${own.replaceAll('.', '\\.')} +comes with Lodge, .*for new agents, for upgrades$`, 'm'),
  );
  assert.match(said, /^ {2}0\.18\.2 +installed, image [0-9a-f]{12}, no template$/m);
  assert.match(said, /^ {2}0\.18\.1 +installed, .*kept from agents: .*an answer streams$/m);
  assert.match(said, /^ {2}npm +could not be asked: /m);
  assert.match(said, /^ {2}PyPI +could not be asked: /m);
  const update = await lodge('update', 'hermes', '0.17.0');
  assert.equal(update.code, 1, update.said);
  assert.match(update.said, /Check that pip can reach its index/);
  assert.equal(await installed.verdict('hermes', '0.17.0'), null, 'nothing is known of it');
});

test('one that has passed is offered, with new agents held and without; one that failed is not', async () => {
  const failed = await lodge('use', 'hermes', '0.18.1');
  assert.equal(failed.code, 1);
  assert.match(failed.said, /hermes 0\.18\.1 is not offered: it failed: an answer streams/);
  assert.deepEqual(await installed.offer('hermes'), { fresh: null, upgrade: null });
  assert.match((await lodge('use', 'hermes', '0.18.2', '--hold')).said, /New agents are held on/);
  assert.deepEqual(await installed.offer('hermes'), { fresh: null, upgrade: '0.18.2' });
  assert.match((await lodge('update', 'hermes', '0.18.2')).said, /has passed its tests before/);
  assert.deepEqual(await installed.offer('hermes'), { fresh: '0.18.2', upgrade: '0.18.2' });
  assert.deepEqual(await installed.list('hermes'), ['0.18.2'], 'the update has removed what nobody needs');
});

test('what is offered is not removed; back on what Lodge brings it is', async () => {
  const offered = await lodge('remove', 'hermes', '0.18.2');
  assert.equal(offered.code, 1);
  assert.match(offered.said, /stays: it is offered/);
  assert.equal((await lodge('use', 'hermes', own)).code, 0);
  assert.deepEqual(await installed.offer('hermes'), { fresh: null, upgrade: null });
  assert.equal((await lodge('remove', 'hermes', '0.18.2')).code, 0);
  assert.deepEqual(await installed.list('hermes'), []);
});

test('a command that names nothing known changes nothing', async () => {
  for (const args of [
    ['use', 'hermes'],
    ['use', 'zeus', '1.0'],
    ['remove', 'hermes', '../x'],
    ['update', 'hermes', '../x'],
    ['reset'],
  ]) {
    const { code, said } = await lodge(...args);
    assert.equal(code, 1, `${args.join(' ')}: ${said}`);
    assert.doesNotMatch(said, /^ {4}at /m, 'words, no stack');
  }
});
