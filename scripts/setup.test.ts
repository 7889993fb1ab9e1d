import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { hostTools } from '../images/src/requirements.ts';

/** Debian's essential packages and apt, which every Debian has. */
const essential = ['apt', 'coreutils', 'dash', 'dpkg', 'findutils', 'tar'];

test('set-up installs every package that building an image needs', async () => {
  const script = await readFile(new URL('setup.sh', import.meta.url), 'utf8');
  for (const [tool, debianPackage] of Object.entries(hostTools)) {
    if (essential.includes(debianPackage)) continue;
    assert.match(
      script,
      new RegExp(`^${tool} ${debianPackage}$`, 'm'),
      `${tool} of ${debianPackage} is not in setup.sh`,
    );
  }
});

test('set-up tells an old Node from one that is new enough', async () => {
  const script = await readFile(new URL('setup.sh', import.meta.url), 'utf8');
  const question = /if node -e '([^']+)'/.exec(script)![1]!;
  const asked = (version: string): { status: number | null; stderr: string } =>
    spawnSync(process.execPath, ['-e', question.replace('process.versions.node', JSON.stringify(version))], {
      encoding: 'utf8',
    });
  for (const [version, status] of [
    ['18.19.1', 1],
    ['20.0.0', 0],
    ['24.21.0', 0],
  ] as const) {
    const { stderr, ...found } = asked(version);
    assert.deepEqual([found.status, stderr], [status, ''], version);
  }
});
