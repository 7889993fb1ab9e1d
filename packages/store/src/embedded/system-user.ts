import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The user of Postgres as `spawn` options, empty when that is this process's own. */
export type RunAs = { readonly uid: number; readonly gid: number } | Record<string, never>;

/**
 * Returns the user that Postgres runs as. Postgres refuses to run as root, so root runs it as the system user `name`;
 * everybody else runs it as themselves, and `name` is ignored. Throws with the command that makes a missing user, because
 * initdb needs its passwd entry.
 */
export async function runAs(name: string): Promise<RunAs> {
  if (process.geteuid!() !== 0) return {};
  const [uid, gid] = await Promise.all([numericId('-u', name), numericId('-g', name)]);
  if (uid === 0) throw new Error(`Postgres cannot run as ${name}: it refuses root.`);
  return { uid, gid };
}

async function numericId(flag: '-u' | '-g', name: string): Promise<number> {
  try {
    return Number((await run('id', [flag, '--', name])).stdout);
  } catch (cause) {
    throw new Error(
      `The system user ${name}, which Postgres runs as, does not exist. Make it: useradd --system --user-group --no-create-home --shell /usr/sbin/nologin ${name}`,
      { cause },
    );
  }
}

/** Throws unless `user` can pass through `dir` and every folder above it, and names the closed folder. */
export async function assertPassable(dir: string, user: RunAs): Promise<void> {
  if (await passable(dir, user)) return;
  let closed = dir;
  for (let above = dirname(dir); !(await passable(above, user)) && above !== closed; above = dirname(above))
    closed = above;
  throw new Error(
    `The folder ${closed} is closed to the user Postgres runs as (uid ${user.uid ?? process.geteuid!()}). Open it with chmod o+x, or keep the data elsewhere.`,
  );
}

async function passable(dir: string, user: RunAs): Promise<boolean> {
  const child = spawn('/usr/bin/test', ['-x', dir], { ...user, stdio: 'ignore' });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code === 0;
}
