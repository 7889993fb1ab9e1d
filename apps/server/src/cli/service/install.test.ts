/** The unit, as systemd itself reads it where it is installed, and the command where systemd does not run. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { access, chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { unitMark, unitText } from './unit.ts';

const run = promisify(execFile);
const main = join(import.meta.dirname, '../main.ts');
const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

async function printed(): Promise<string> {
  return (await run(process.execPath, [main, 'install', '--print'])).stdout;
}

test('the unit that is printed starts at boot, again after a failure, and leaves machines alone', async () => {
  const text = await printed();
  assert.ok(text.startsWith(unitMark));
  const lines = text.split('\n');
  for (const line of [
    'WantedBy=multi-user.target',
    'Restart=on-failure',
    'KillMode=process',
    'Delegate=yes',
    'StandardOutput=journal',
    'LimitNOFILE=65536',
  ]) {
    assert.ok(lines.includes(line), line);
  }
  const script = /^ExecStart=\/bin\/bash (\S+)$/m.exec(text)?.[1];
  assert.ok(script && (await isThere(script)), text);
});

test('a folder that another user may change is not on its path, also where npm is there alone', async (t) => {
  if (process.getuid!() !== 0) return t.skip('only root gives folders away');
  const folder = await mkdtemp(join(tmpdir(), 'lodge-npm-'));
  t.after(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'npm'), '#!/bin/sh\n', { mode: 0o755 });
  await chown(folder, 1000, 1000);
  const env = { ...process.env, PATH: folder };
  const { stdout, stderr } = await run(process.execPath, [main, 'install', '--print'], { env });
  assert.ok(/^Environment=PATH=\/usr\/local\/sbin:/m.test(stdout) && !stdout.includes(folder), stdout);
  assert.match(stderr, /^Warning: npm is in .* not root's/);
});

test('nothing in it gives the service mounts of its own', async () => {
  const names = (await printed()).split('\n').map((line) => line.split('=')[0]!);
  const mounting =
    /^(Protect|Private|ReadOnly|ReadWrite|Inaccessible|Temporary|Bind|Mount|Root|DevicePolicy|DynamicUser)/;
  assert.deepEqual(
    names.filter((name) => mounting.test(name)),
    [],
  );
});

test('systemd reads it without a complaint', async (t) => {
  if (!(await isThere('/usr/bin/systemd-analyze')))
    return t.skip('there is no systemd-analyze: its text alone was checked');
  const folder = await mkdtemp(join(tmpdir(), 'lodge-unit-'));
  try {
    const unit = join(folder, 'lodge.service');
    await writeFile(unit, await printed());
    const { stdout, stderr } = await run('systemd-analyze', ['verify', '--man=no', unit]);
    assert.equal(
      `${stdout}${stderr}`
        .split('\n')
        .filter((line) => line.includes('lodge.service'))
        .join('\n'),
      '',
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('a path that a unit cannot have is refused', () => {
  const plain = { root: '/opt/lodge', environmentFile: '/etc/lodge.env', programs: '/usr/bin' };
  for (const root of ['/opt/my lodge', '/opt/%h', '/opt/"x"', '/opt/a\nExecStart=/bin/sh', 'opt']) {
    assert.throws(() => unitText({ ...plain, root }), /cannot have/, root);
  }
  assert.match(unitText({ ...plain, programs: '/opt/node/bin' }), /^Environment=PATH=\/opt\/node\/bin:/m);
});

test('where systemd does not run, both commands say so and change nothing', async (t) => {
  if (await isThere('/run/systemd/system')) return t.skip('systemd runs here, and a test installs no service');
  for (const command of ['install', 'uninstall']) {
    await assert.rejects(run(process.execPath, [main, command]), (error: Error & { code: number; stderr: string }) => {
      assert.equal(error.code, 1);
      assert.match(error.stderr, /systemd does not run this machine/);
      return true;
    });
  }
  assert.equal(await isThere('/etc/systemd/system/lodge.service'), false);
});
