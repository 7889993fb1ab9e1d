/**
 * The Python SDK as its users get it: the wheel is built, installed into an empty folder, and tested against a real API. The short
 * form uses the machine's Python; the long one every promised version that is here.
 */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { formOf } from '@lodge/testkit/forms';
import { snake } from '../../scripts/sdk/python/names.ts';
import { places } from './operations.ts';
import { foundPythons, ownPython, packagesFor, promised, run, sdkFolder } from './python/environment.ts';
import type { Python } from './python/environment.ts';

const root = new URL('../..', import.meta.url).pathname;
const pythons = await formOf({ short: async () => [await ownPython()], long: foundPythons })();
let folder: string;
let wheel: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sdk-python-'));
  const [python] = pythons;
  const build = ['-m', 'hatchling', 'build', '--target', 'wheel', '--directory', folder];
  await run(python!.program, build, { cwd: sdkFolder, env: { PYTHONPATH: await packagesFor(python!) } });
  wheel = (await readdir(folder)).find((name) => name.endsWith('.whl'))!;
});
after(() => rm(folder, { recursive: true, force: true }));

test('the package has the version of all others', async () => {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  const project = await readFile(join(sdkFolder, 'pyproject.toml'), 'utf8');
  assert.ok(project.includes(`\nversion = "${version}"\n`));
  assert.ok((await readFile(join(sdkFolder, 'src/lodge_agents/_version.py'), 'utf8')).includes(`"${version}"`));
  assert.equal(wheel, `lodge_agents-${version}-py3-none-any.whl`);
});

test('its types hold', async () => {
  const [python] = pythons;
  const env = { PYTHONPATH: await packagesFor(python!), MYPYPATH: join(sdkFolder, 'src') };
  const mypy = ['-m', 'mypy', '--strict', '--cache-dir', join(folder, 'mypy'), '--python-version', '3.10'];
  await run(python!.program, [...mypy, '-p', 'lodge_agents'], { cwd: folder, env });
});

describe('the installed wheel passes its tests', () => {
  for (const python of pythons) test(`with Python ${python.version}`, () => testedWith(python));
  const missing = promised.filter((version) => !pythons.some((python) => python.version.startsWith(`${version}.`)));
  for (const version of formOf({ short: [], long: missing }))
    test(`with Python ${version}`, { skip: 'not on this machine' });
});

async function testedWith(python: Python): Promise<void> {
  const [needed, target] = [await packagesFor(python), join(folder, python.version)];
  const pip = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--no-index', '--target', target];
  await run(python.program, [...pip, join(folder, wheel)]);
  const env = {
    PYTHONPATH: `${target}:${needed}`,
    LODGE_TEST_SERVER: `${process.execPath} ${join(root, 'tests/hands/lodge-process.ts')}`,
    LODGE_TEST_METHODS: JSON.stringify(
      Object.values(places).flatMap(({ method }) => (typeof method === 'string' ? [snake(method)] : [])),
    ),
    LODGE_TEST_PACKAGE: target,
  };
  const pytest = ['-m', 'pytest', '-c', join(sdkFolder, 'pyproject.toml'), join(sdkFolder, 'tests')];
  console.log(await run(python.program, pytest, { cwd: folder, env }));
}
