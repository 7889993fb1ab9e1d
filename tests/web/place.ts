/**
 * Where the account area is tested: a service named by LODGE_WEB_URL, LODGE_OWNER_LINK (not used yet) and
 * LODGE_RESET_COMMAND (run with an e-mail address as last argument, prints a reset link); else the area served by the test
 * itself, with the pages built from this tree.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { serveArea } from './served-area.ts';
import type { Place } from './served-area.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');

export type { Place };

export async function openPlace(): Promise<Place> {
  const { LODGE_WEB_URL: url, LODGE_OWNER_LINK: ownerLink, LODGE_RESET_COMMAND: command } = process.env;
  if (url === undefined) {
    await buildPages();
    return serveArea();
  }
  if (ownerLink === undefined || command === undefined) {
    throw new Error('LODGE_WEB_URL needs LODGE_OWNER_LINK and LODGE_RESET_COMMAND beside it.');
  }
  return {
    url: url.replace(/\/$/, ''),
    ownerLink,
    async resetLink(email) {
      const { stdout } = await run('sh', ['-c', `${command} "$1"`, 'sh', email], { cwd: root, timeout: 60_000 });
      const link = /\S+\/account\/reset#token=\S+/.exec(stdout)?.[0];
      if (link === undefined) throw new Error(`The reset command printed no link: ${stdout}`);
      return link;
    },
    close: () => Promise.resolve(),
  };
}

export async function buildPages(): Promise<void> {
  await run(process.execPath, [join(root, 'scripts/build-web.ts')], { timeout: 120_000 });
}
