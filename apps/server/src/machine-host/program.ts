/**
 * How an unprivileged user runs a program of this checkout. If the folders above the checkout are closed to the user, as
 * /root is, the process gets its own mount namespace, which shows the checkout elsewhere, read-only.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { ControlUserError } from './control-user.ts';
import type { User } from './control-user.ts';

export interface Program {
  /** The prefix of a command that must see the program; it may be empty. Root runs it. */
  readonly through: readonly string[];
  /** The command: Node, its options, the file. */
  readonly argv: readonly string[];
}

export interface Place {
  /** Node, and the file that it runs. */
  readonly node: string;
  readonly entry: string;
  /** The folder that has both, with everything they load. */
  readonly checkout: string;
  /** A folder for the other view of it, below one that the user may pass; it is made if needed. */
  readonly view: string;
}

/** The folder that has this file and Node. */
export const ownCheckout = join(import.meta.dirname, '../../../..');

/** Only this process sees the mount, which ends with it. */
const mountAndRun = 'mount -o bind,ro -- "$1" "$2" && shift 2 && exec "$@"';

/** Throws `ControlUserError` when the user cannot read the program either way. */
export async function programFor(user: User, place: Place): Promise<Program> {
  const { node, entry, checkout, view } = place;
  const direct = { through: [], argv: [node, ...process.execArgv, entry] };
  if (await isReadable(user, direct, place)) return direct;
  const seen = { node: moved(node, checkout, view), entry: moved(entry, checkout, view) };
  if (seen.node !== null && seen.entry !== null) {
    await mkdir(view, { recursive: true });
    await chmod(view, 0o755);
    const namespace = ['unshare', '--mount', '--propagation', 'slave', '--'];
    const program = {
      through: [...namespace, 'sh', '-c', mountAndRun, 'sh', checkout, view],
      argv: [seen.node, ...process.execArgv, seen.entry],
    };
    if (await isReadable(user, program, { node: seen.node, entry: seen.entry })) return program;
  }
  throw new ControlUserError(
    `${entry} is closed to the user ${user.name}, which a part of Lodge runs as. Open the checkout with chmod -R go=rX ${checkout}.`,
  );
}

/** A path's place in the view of the checkout; null if the path is elsewhere. */
function moved(path: string, checkout: string, view: string): string | null {
  const inside = relative(checkout, path);
  return inside.startsWith('..') ? null : join(view, inside);
}

async function isReadable(user: User, { through }: Program, { node, entry }: Pick<Place, 'node' | 'entry'>) {
  const become = ['setpriv', `--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups', '--'];
  const [command, ...args] = [...through, ...become, 'test', '-x', node, '-a', '-r', entry];
  const child = spawn(command, args, { stdio: 'ignore' });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code === 0;
}
