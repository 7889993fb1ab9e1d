import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { hostTools } from '../images/src/requirements.ts';

/** Debian's essential packages and apt: no Debian is without them. */
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
