/** Finds the files of a folder of a commit among the objects that a server sent. */
import { SkillProblem, shownPath } from '@lodge/domain';
import { Entries, nameOf, refuseLink } from '../archives/entries.ts';
import type { Entry } from '../archives/entries.ts';
import { readPack } from './pack.ts';
import type { GitObject } from './pack.ts';

type Objects = ReadonlyMap<string, GitObject>;

export type FoundFiles = { readonly entries: readonly Entry[] } | { readonly missing: readonly string[] };

const modes = { folder: '40000', link: '120000', repository: '160000', executable: '100755' };
const lfs = 'version https://git-lfs.github.com/spec/';

/** Throws a `SkillProblem` where the commit has no such folder, or the folder has what is no file. */
export function filesOfCommit(packs: readonly Uint8Array[], commit: string, path: string): FoundFiles {
  const objects = new Map<string, GitObject>();
  for (const pack of packs) readPack(pack, objects);
  const files = [...filesIn(objects, folderAt(objects, commit, path))];
  const missing = files.filter(({ id }) => !objects.has(id)).map(({ id }) => id);
  if (missing.length > 0) return { missing: [...new Set(missing)] };
  const entries = new Entries();
  for (const { id, mode, path } of files) {
    const { data } = objectOf(objects, id, 'blob');
    if (!entries.admit(path, data.length)) continue;
    if (data.subarray(0, lfs.length).toString('latin1') === lfs) {
      throw new SkillProblem(`${shownPath(path)} is kept by Git LFS, from which nothing is fetched`);
    }
    entries.add({ path, content: data, executable: mode === modes.executable });
  }
  return { entries: entries.files };
}

function objectOf(objects: Objects, id: string, type: GitObject['type']): GitObject {
  const object = objects.get(id);
  if (object?.type !== type) throw new SkillProblem('the server did not send all of the commit');
  return object;
}

/** The tree of the folder. */
function folderAt(objects: Objects, commit: string, path: string): string {
  const object = objects.get(commit);
  // A tag that somebody asked for by its own name.
  if (object?.type === 'tag') throw new SkillProblem('ref names a tag by its hash: give the hash of its commit');
  const [, root] =
    /^tree ([0-9a-f]{40})\n/.exec(objectOf(objects, commit, 'commit').data.toString('latin1', 0, 48)) ?? [];
  if (root === undefined) throw new SkillProblem('the server did not send all of the commit');
  let tree = root;
  for (const name of path.split('/').filter((one) => one !== '')) {
    const entry = [...entriesOf(objectOf(objects, tree, 'tree').data)].find((one) => one.name === name);
    if (entry?.mode !== modes.folder) throw new SkillProblem('path names no folder of the commit');
    tree = entry.id;
  }
  return tree;
}

interface TreeEntry {
  readonly mode: string;
  readonly name: string;
  readonly id: string;
}

function* entriesOf(tree: Buffer): Generator<TreeEntry> {
  for (let at = 0; at < tree.length;) {
    const space = tree.indexOf(0x20, at);
    const end = tree.indexOf(0, space);
    if (space < 0 || end < 0 || end + 21 > tree.length) throw new SkillProblem('a folder of the commit cannot be read');
    yield {
      mode: tree.toString('latin1', at, space),
      name: nameOf(tree.subarray(space + 1, end)),
      id: tree.toString('hex', end + 1, end + 21),
    };
    at = end + 21;
  }
}

/** Goes through folders. One folder may stand in many places, so everything that is seen counts. */
function* filesIn(objects: Objects, root: string): Generator<TreeEntry & { readonly path: string }> {
  const seen = new Entries();
  const folders = [{ id: root, prefix: '' }];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of entriesOf(objectOf(objects, folder.id, 'tree').data)) {
      seen.see();
      const path = folder.prefix + entry.name;
      if (entry.mode === modes.link) refuseLink(path);
      if (entry.mode === modes.repository) throw new SkillProblem(`${shownPath(path)} is a submodule`);
      if (entry.mode === modes.folder) folders.push({ id: entry.id, prefix: `${path}/` });
      else yield { ...entry, path };
    }
  }
}
