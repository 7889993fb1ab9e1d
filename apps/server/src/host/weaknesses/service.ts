/** What systemd runs as root, where Lodge is a service of it. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fail, ok, warn } from '../finding.ts';
import { strangerOf } from '../ownership.ts';
import { environmentFile, toRoot, unitFile } from '../service-files.ts';
import { fileOf } from './check.ts';
import type { Check } from './check.ts';

const program: Check = {
  name: 'service',
  async look(facts, name) {
    const unit = await fileOf(facts, unitFile);
    if (unit === null) return ok(name, 'not installed');
    const checkout = /^WorkingDirectory=(\/\S*)$/m.exec(unit)?.[1];
    const path = /^Environment=PATH=(\S*)$/m.exec(unit)?.[1] ?? '';
    const folders = [...(checkout ? [checkout] : []), ...path.split(':').filter((folder) => folder.startsWith('/'))];
    for (const folder of folders) {
      const stranger = await strangerOf(join(facts.root, folder), facts.root).catch(() => null);
      if (stranger === null) continue;
      const detail = `${stranger.path}, which the service runs as root, is ${stranger.who}'s to change`;
      const advice =
        folder === checkout ? toRoot(checkout) : 'run npm run lodge -- install again, with npm installed for all users';
      return warn(name, detail, advice);
    }
    return ok(name, `${checkout ?? unitFile}, root's alone`);
  },
};

const settings: Check = {
  name: 'service settings',
  async look({ root }, name) {
    const found = await stat(join(root, environmentFile)).catch(() => null);
    if (found === null) return ok(name, `no ${environmentFile}`);
    const advice = `chown root: ${environmentFile} && chmod 600 ${environmentFile}`;
    if (found.uid !== 0) return fail(name, `${environmentFile} belongs to user ${found.uid}`, advice);
    if ((found.mode & 0o077) !== 0) return fail(name, `${environmentFile} is open to other users`, advice);
    return ok(name, `${environmentFile}, for root alone`);
  },
};

export const serviceChecks: readonly Check[] = [program, settings];
