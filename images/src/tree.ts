/** The guest's root file system as a folder, made layer by layer. Runs as root: owners and modes are those of the guest. */
import { appendFile, chmod, chown, copyFile, glob, mkdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { dropFiles } from './drop.ts';
import { ImageError } from './errors.ts';
import { nodeBinary } from './npm.ts';
import type { Layer } from './recipe.ts';
import { run, type RunContext } from './run.ts';

/** Tars that the layers are made from, by layer name. */
export interface LayerTars {
  readonly debian?: string;
  readonly npm?: string;
}

const untarMs = 10 * 60_000;
const guestdPath = 'opt/lodge/guestd.mjs';

export async function makeTree(
  layers: readonly Layer[],
  tars: ReadonlyMap<string, LayerTars>,
  guestd: string | null,
  root: string,
  context: RunContext,
): Promise<void> {
  await mkdir(root, { mode: 0o755 });
  for (const layer of layers) {
    const { debian, npm } = tars.get(layer.name) ?? {};
    if (debian !== undefined) await untar(debian, root, context);
    if (npm !== undefined && layer.npm) await untar(npm, join(root, layer.npm.into, 'node_modules'), context);
    if (layer.nodeVersion !== undefined)
      await install(await nodeBinary(layer.nodeVersion), root, 'usr/local/bin/node', true);
    await copyFiles(join(layer.folder, 'files'), root);
    for (const user of layer.users ?? []) await addUser(root, user);
    await dropFiles(root, layer.drop ?? []);
    for (const [path, target] of Object.entries(layer.links ?? {})) {
      await rm(join(root, path), { force: true });
      await symlink(target, join(root, path));
    }
  }
  if (guestd !== null) {
    await mkdir(join(root, dirname(guestdPath)), { recursive: true });
    await writeFile(join(root, guestdPath), guestd, { mode: 0o644 });
  }
  await makeFolders(layers, root);
}

async function untar(tar: string, into: string, context: RunContext): Promise<void> {
  await mkdir(into, { recursive: true });
  // Device files come from the guest's kernel at boot.
  const argv = ['tar', '--extract', '--numeric-owner', '--exclude=./dev/*', '--file', tar, '-C', into] as const;
  await run({ argv, timeoutMs: untarMs, advice: 'Check that the disk has room.' }, context);
}

/** A recipe's files keep nothing of their checkout but whether they are executable. */
async function copyFiles(from: string, root: string): Promise<void> {
  for await (const entry of glob('**/*', { cwd: from, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    await install(path, root, path.slice(from.length + 1), await isExecutable(path));
  }
}

async function isExecutable(path: string): Promise<boolean> {
  const { mode } = await stat(path);
  return (mode & 0o111) !== 0;
}

async function install(from: string, root: string, path: string, executable: boolean): Promise<void> {
  const to = join(root, path);
  await mkdir(dirname(to), { recursive: true, mode: 0o755 });
  await rm(to, { force: true });
  await copyFile(from, to);
  await chmod(to, executable ? 0o755 : 0o644);
}

/** Without a password: nobody logs in to a guest. */
async function addUser(root: string, user: NonNullable<Layer['users']>[number]): Promise<void> {
  const { name, id, home, shell } = user;
  await appendFile(join(root, 'etc/passwd'), `${name}:x:${id}:${id}::${home}:${shell}\n`);
  await appendFile(join(root, 'etc/group'), `${name}:x:${id}:\n`);
  await appendFile(join(root, 'etc/shadow'), `${name}:!:::::::\n`);
}

async function makeFolders(layers: readonly Layer[], root: string): Promise<void> {
  const users = new Map(layers.flatMap((layer) => layer.users ?? []).map(({ name, id }) => [name, id]));
  for (const { path, owner, mode } of layers.flatMap((layer) => layer.folders ?? [])) {
    const id = owner === 'root' ? 0 : users.get(owner);
    if (id === undefined) throw new ImageError(`the recipe's folder ${path} belongs to ${owner}, whom no layer has`);
    await mkdir(join(root, path), { recursive: true });
    await chown(join(root, path), id, id);
    await chmod(join(root, path), Number.parseInt(mode, 8));
  }
}
