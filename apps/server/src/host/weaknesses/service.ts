/** The programs that systemd runs as root, if Lodge is its service. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fail, ok, warn } from '../finding.ts';
import { strangerOf, strangerWithin } from '../ownership.ts';
import type { Stranger } from '../ownership.ts';
import { environmentFile, toRoot, unitFile } from '../service-files.ts';
import { fileOf } from './check.ts';
import type { Check, HostFacts } from './check.ts';

const program: Check = {
  name: 'service',
  async look(facts, name) {
    const unit = await fileOf(facts, unitFile);
    if (unit === null) return ok(name, 'not installed');
    const checkout = /^WorkingDirectory=(\/\S*)$/m.exec(unit)?.[1];
    const path = /^Environment=PATH=(\S*)$/m.exec(unit)?.[1] ?? '';
    const detailOf = (found: Stranger): string =>
      `${found.path}, which the service runs as root, is ${found.who}'s to change`;
    const inCheckout = checkout === undefined ? null : await within(facts, checkout);
    if (inCheckout !== null) return warn(name, detailOf(inCheckout), toRoot(checkout!));
    const onPath = await firstOf(facts, path.split(':'));
    if (onPath !== null)
      return warn(name, detailOf(onPath), 'run npm run lodge -- install again, with npm installed for all users');
    return ok(name, `${checkout ?? unitFile}, root's alone`);
  },
};

/**
 * Root loads all of a checkout: scripts, programs, packages and the targets of their links. Lodge's stored data does not
 * count.
 */
function within({ root, config }: HostFacts, checkout: string): Promise<Stranger | null> {
  const data = [config.dataDir, config.cacheDir].map((folder) => join(root, folder));
  return strangerWithin(join(root, checkout), root, data).catch(() => null);
}

/** Checks the folders on a path, and the host's programs that set-up runs by name. */
async function firstOf({ root }: HostFacts, folders: readonly string[]): Promise<Stranger | null> {
  for (const folder of folders.filter((each) => each.startsWith('/'))) {
    for (const name of ['', 'node', 'npm']) {
      const stranger = await strangerOf(join(root, folder, name), root).catch(() => null);
      if (stranger !== null) return stranger;
    }
  }
  return null;
}

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
