/** Says what a person means who adds a skill: a folder, an archive, a repository, or a skill of a hub. */
import { readFile, readdir, stat } from 'node:fs/promises';
import { join, resolve, basename } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { AddSkill } from '@lodge/sdk';
import { usageError } from '../failure.ts';
import { given } from '../values.ts';
import { tarOf } from './tar.ts';

export interface Adding {
  readonly ref?: string;
  readonly path?: string;
}

export interface Archive {
  readonly archive: Uint8Array;
  readonly type: 'zip' | 'tar.gz';
}

const hubs = { clawhub: 'clawhub', 'skills.sh': 'skills.sh' } as const;
/** More than the service takes. */
const maxFiles = 1_000;

export async function addingOf(source: string, { ref, path }: Adding): Promise<Archive | AddSkill> {
  if (/^https?:\/\//.test(source)) return { git: { url: source, ...given({ ref, path }) } };
  if (ref !== undefined || path !== undefined)
    throw usageError('--ref and --path are for the address of a repository.');
  const colon = source.indexOf(':');
  const hub = hubs[source.slice(0, Math.max(colon, 0)) as keyof typeof hubs];
  if (hub !== undefined) {
    const [slug = '', version] = source.slice(colon + 1).split('@');
    return { hub: { name: hub, slug, ...given({ version }) } };
  }
  const found = await stat(source).catch(() => null);
  if (found === null) throw usageError(`There is no folder and no archive ${source}.`);
  if (found.isDirectory()) return { archive: gzipSync(tarOf(await filesOf(resolve(source)))), type: 'tar.gz' };
  const type = /\.zip$/i.test(source) ? 'zip' : /\.(?:tar\.gz|tgz)$/i.test(source) ? 'tar.gz' : null;
  if (type === null) throw usageError('An archive is a .zip, a .tar.gz or a .tgz.');
  return { archive: await readFile(source), type };
}

/** The files of a folder under its name. Links and repositories are left out. */
async function filesOf(folder: string) {
  const files = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const whole = join(entry.parentPath, entry.name);
    const path = `${basename(folder)}${whole.slice(folder.length)}`;
    if (!entry.isFile() || /(?:^|\/)\.git\//.test(path)) continue;
    if (files.length >= maxFiles) throw usageError(`The folder has more than ${maxFiles} files.`);
    const { mode } = await stat(whole);
    files.push({ path, content: await readFile(whole), executable: (mode & 0o111) !== 0 });
  }
  return files;
}
