/** The unprivileged user of the control plane, and the one folder that it owns. */
import { execFile } from 'node:child_process';
import { chmod, lchown, mkdir, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { NamedError, wasThere } from '@lodge/domain';
import type { Config } from '../config/config.ts';

export interface User {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** The control plane cannot run properly here; the message gives advice. */
export class ControlUserError extends NamedError {}

const run = promisify(execFile);

/** Null when there is no such user. */
export async function findUser(name: string): Promise<User | null> {
  const id = async (flag: string): Promise<number> => Number((await run('id', [flag, '--', name])).stdout);
  return Promise.all([id('-u'), id('-g')]).then(
    ([uid, gid]) => ({ name, uid, gid }),
    () => null,
  );
}

/** Throws `ControlUserError` unless this process may become that user, and the user has no privileges. */
export async function controlUser({ controlUser: name }: Pick<Config, 'controlUser'>): Promise<User> {
  if (process.geteuid!() !== 0) throw new ControlUserError('Lodge starts as root: run npm start, which asks for it.');
  const user = await findUser(name);
  if (user === null) {
    throw new ControlUserError(
      `The system user ${name}, which the API, the broker and the engine run as, does not exist. Make it: useradd --system --user-group --no-create-home --shell /usr/sbin/nologin ${name}`,
    );
  }
  if (user.uid === 0 || user.gid === 0)
    throw new ControlUserError(`LODGE_CONTROL_USER must not be root or of its group.`);
  return user;
}

/** Files that earlier releases kept beside the folder. */
const moved = ['first-key', 'owner-link'] as const;

export const ownFolderOf = ({ dataDir }: Pick<Config, 'dataDir'>): string => join(dataDir, 'control-plane');

/**
 * Makes the folder, mode 0700, and gives it to `user`; null leaves it root's. Files of earlier releases in the data folder
 * are moved into it. The next start completes the work after a kill between any two steps.
 *
 * Only files in a folder of root's are given away: in its own folder the user could have put another's file in their place.
 */
export async function makeOwnFolder(config: Pick<Config, 'dataDir'>, user: User | null): Promise<string> {
  const folder = ownFolderOf(config);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const owner = user ?? { uid: process.geteuid!(), gid: process.getegid!() };
  for (const name of moved) {
    const [from, to] = [join(config.dataDir, name), join(folder, name)];
    if (await chownIfThere(from, owner)) await rename(from, to);
  }
  const { uid } = await stat(folder);
  if (uid === owner.uid) return folder;
  if (uid === process.geteuid!()) {
    // Nobody else writes here yet.
    for (const name of moved) await chownIfThere(join(folder, name), owner);
    await chmod(folder, 0o700);
  }
  await lchown(folder, owner.uid, owner.gid);
  return folder;
}

const chownIfThere = (path: string, { uid, gid }: Pick<User, 'uid' | 'gid'>): Promise<boolean> =>
  wasThere(lchown(path, uid, gid));
