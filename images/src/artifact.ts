/**
 * A folder of finished files, named by a hash of its inputs. It appears by one rename, complete and on the disk, with a
 * `manifest.json` of every file's size and hash. It is therefore there whole or not at all, and later damage is noticed.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { link, mkdir, open, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';

export interface Artifact {
  readonly files: Readonly<Record<string, FileFacts>>;
  /** Its inputs, for people and for later layers. */
  readonly facts: Facts;
}

export interface FileFacts {
  readonly size: number;
  readonly sha256: string;
}

export type Facts = Readonly<Record<string, unknown>>;

const manifestName = 'manifest.json';

/** Returns the artifact in `folder`, when its manifest is there and every file has its size; else null. */
export async function findArtifact(folder: string): Promise<Artifact | null> {
  try {
    const artifact = JSON.parse(await readFile(join(folder, manifestName), 'utf8')) as Artifact;
    for (const [name, { size }] of Object.entries(artifact.files)) {
      if ((await stat(join(folder, name))).size !== size) return null;
    }
    return artifact;
  } catch {
    return null;
  }
}

/** Publishes the files of `draft` as an artifact at `folder`. `draft` is on the same file system. */
export async function publishArtifact(draft: string, folder: string, facts: Facts): Promise<Artifact> {
  const files: Record<string, FileFacts> = {};
  for (const name of (await readdir(draft)).sort()) {
    const path = join(draft, name);
    files[name] = { size: (await stat(path)).size, sha256: await sha256File(path) };
    await fsync(path);
  }
  const artifact = { files, facts };
  await writeFile(join(draft, manifestName), `${JSON.stringify(artifact, null, 2)}\n`);
  await fsync(join(draft, manifestName));
  await fsync(draft);
  await mkdir(dirname(folder), { recursive: true });
  await replaceFolder(draft, folder);
  await fsync(dirname(folder));
  return artifact;
}

/** Replaces a damaged artifact. Its disks stay beside the new ones, because another disk may lie over them. */
async function replaceFolder(draft: string, folder: string): Promise<void> {
  const damaged = await readdir(folder).catch(() => null);
  if (damaged !== null) {
    const disks = damaged.filter((name) => name.endsWith('.qcow2'));
    for (const name of disks) await link(join(folder, name), join(draft, name)).catch(() => undefined);
    await fsync(draft);
    const aside = `${draft}.damaged`;
    await rename(folder, aside);
    await rename(draft, folder);
    await rm(aside, { recursive: true });
  } else {
    await rename(draft, folder);
  }
}

export async function sha256File(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 1024 * 1024 }), hash);
  return hash.digest('hex');
}

async function fsync(path: string): Promise<void> {
  await using handle = await open(path, 'r');
  await handle.sync();
}
