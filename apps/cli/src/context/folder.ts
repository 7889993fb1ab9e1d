/** Files of the command's own folder: private, and replaced as a whole. */
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** A file of ours is far smaller. */
const maxBytes = 1024 * 1024;

/** The folder of the command's settings: `$XDG_CONFIG_HOME/lodge`, or `~/.config/lodge`. */
export function configFolder(env: NodeJS.ProcessEnv): string {
  const given = env['XDG_CONFIG_HOME'];
  return join(given !== undefined && given.startsWith('/') ? given : join(homedir(), '.config'), 'lodge');
}

/** Reads a file; undefined where there is none. */
export async function readPrivate(path: string): Promise<string | undefined> {
  try {
    const { size } = await stat(path);
    if (size > maxBytes) throw new Error(`${path} is too large to be a file of Lodge's.`);
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Replaces a file as a whole, readable by its owner alone from the first byte on. */
export async function writePrivate(path: string, text: string): Promise<void> {
  const folder = join(path, '..');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const made = `${path}.${randomBytes(6).toString('hex')}`;
  const file = await open(made, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
    await file.close();
    await chmod(made, 0o600);
    await rename(made, path);
  } catch (error) {
    await file.close().catch(() => undefined);
    await rm(made, { force: true });
    throw error;
  }
}
