/**
 * Files of a workspace. A digest of what the file wants lies in the agent's metadata, so an agent that sleeps is not woken to
 * find out that nothing changed. Where the digest differs, a running machine is asked: sizes first, then contents. With
 * `--check-files` it is asked in any case, and finds what the agent changed itself.
 */
import { createHash } from 'node:crypto';
import { createReadStream, openAsBlob } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import type { Agent, AgentFile, Lodge } from '@lodge/sdk';
import type { FieldChange } from './diff.ts';
import type { Acting, Step } from './step.ts';
import type { FilesEntry } from './file/wanted.ts';

/** The pair of the metadata that has the digest. */
export const filesKey = 'lodge.files';
const maxFiles = 20_000;
const maxFileBytes = 64 * 1024 * 1024;
/** Not taken from folders. */
const leftOut = new Set(['.git', '.DS_Store']);
const maxNamed = 10;

interface LocalFile {
  /** Path in the workspace, without a slash before it. */
  readonly to: string;
  readonly size: number;
  readonly hash: string;
  readonly body: () => Promise<Blob | Uint8Array<ArrayBuffer>>;
}

export interface LocalFiles {
  readonly files: readonly LocalFile[];
  /** Folders from which is removed what is not in `files`. */
  readonly pruned: readonly string[];
  readonly digest: string;
  readonly leftOut: readonly string[];
}

/** An entry that cannot be read, and why. */
export class WrongEntry extends Error {
  readonly at: number;

  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

/** Reads what the entries name. Links are left out. */
export async function localFiles(entries: readonly FilesEntry[], folder: string): Promise<LocalFiles> {
  const found = new Map<string, LocalFile>();
  const left: string[] = [];
  for (const [at, entry] of entries.entries()) {
    const to = trimmed(entry.to);
    try {
      if (entry.text !== undefined) found.set(fileName(to, entry), textFile(fileName(to, entry), entry.text));
      else await collect(resolve(folder, entry.from!), to, entry.to.endsWith('/'), found, left);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      throw new WrongEntry(at, code === undefined ? message : `${JSON.stringify(entry.from)} cannot be read: ${code}`);
    }
  }
  const files = [...found.values()].toSorted((a, b) => (a.to < b.to ? -1 : 1));
  const pruned = entries.filter(({ prune }) => prune === true).map(({ to }) => trimmed(to));
  const hash = createHash('sha256').update(JSON.stringify([pruned, files.map((file) => [file.to, file.hash])]));
  return { files, pruned, digest: hash.digest('hex').slice(0, 40), leftOut: left };
}

const trimmed = (to: string): string => to.split('/').filter(Boolean).join('/');

function fileName(to: string, entry: FilesEntry): string {
  if (to === '' || entry.to.endsWith('/')) throw new Error('`to` must name a file');
  return to;
}

function textFile(to: string, text: string): LocalFile {
  const bytes = new TextEncoder().encode(text);
  return { to, size: bytes.length, hash: createHash('sha256').update(bytes).digest('hex'), body: async () => bytes };
}

async function collect(
  from: string,
  to: string,
  isInto: boolean,
  found: Map<string, LocalFile>,
  left: string[],
): Promise<void> {
  const folders: (readonly [from: string, to: string])[] = [];
  const add = async (path: string, target: string): Promise<void> => {
    const kind = await lstat(path);
    if (kind.isDirectory()) folders.push([path, target]);
    else if (!kind.isFile()) left.push(path);
    else if (kind.size > maxFileBytes) throw new Error(`${JSON.stringify(path)} is larger than 64 MiB`);
    else found.set(target, { to: target, size: kind.size, hash: await hashOf(path), body: () => openAsBlob(path) });
    if (found.size > maxFiles) throw new Error(`there are more than ${maxFiles} files`);
  };
  const isFolder = (await lstat(from)).isDirectory();
  await add(from, isFolder || (to !== '' && !isInto) ? to : joined(to, basename(from)));
  for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
    for (const name of await readdir(next[0]))
      if (!leftOut.has(name)) await add(join(next[0], name), joined(next[1], name));
  }
}

const joined = (folder: string, name: string): string => (folder === '' ? name : `${folder}/${name}`);

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array);
  return hash.digest('hex');
}

interface Compared {
  readonly put: readonly LocalFile[];
  readonly remove: readonly string[];
}

/** Compares with a machine that runs. */
async function compare(lodge: Lodge, agentId: string, local: LocalFiles, call: Acting['call']): Promise<Compared> {
  const present = await remoteFiles(lodge, agentId, local, call);
  const put: LocalFile[] = [];
  for (const file of local.files) {
    const there = present.get(file.to);
    const isSame =
      there?.type === 'file' &&
      there.size === file.size &&
      (await remoteHash(lodge, agentId, file.to, call)) === file.hash;
    if (!isSame) put.push(file);
  }
  const wanted = new Set(local.files.map(({ to }) => to));
  const remove = [...present.values()]
    .filter(({ path, type }) => type !== 'directory' && isPruned(path, local.pruned) && !wanted.has(path))
    .map(({ path }) => path);
  return { put, remove };
}

const isPruned = (path: string, pruned: readonly string[]): boolean =>
  pruned.some((folder) => folder === '' || path.startsWith(`${folder}/`));

/** Lists the folders that have files of ours, and those that are pruned with all below them. */
async function remoteFiles(
  lodge: Lodge,
  agentId: string,
  local: LocalFiles,
  call: Acting['call'],
): Promise<Map<string, AgentFile>> {
  const folders = new Set(local.files.map(({ to }) => to.split('/').slice(0, -1).join('/')));
  const queue = [...new Set([...folders, ...local.pruned])];
  const listed = new Set<string>();
  const found = new Map<string, AgentFile>();
  for (let folder = queue.pop(); folder !== undefined; folder = queue.pop()) {
    if (listed.has(folder)) continue;
    listed.add(folder);
    try {
      for await (const entry of lodge.files.list(agentId, { path: folder, limit: 1000 }, call)) {
        const path = trimmed(entry.path);
        found.set(path, { ...entry, path });
        if (found.size > 5 * maxFiles) throw new Error('The workspace has too many files to compare.');
        if (entry.type === 'directory' && isPruned(`${path}/`, local.pruned)) queue.push(path);
      }
    } catch (error) {
      if (!isNone(error)) throw error;
    }
  }
  return found;
}

/** The folder is not there, or a file is in its place. */
const isNone = (error: unknown): boolean =>
  ['file_not_found', 'file_conflict'].includes(String((error as { readonly code?: unknown }).code));

async function remoteHash(lodge: Lodge, agentId: string, path: string, call: Acting['call']): Promise<string> {
  const hash = createHash('sha256');
  const content = await lodge.files.read(agentId, path, call);
  for await (const chunk of content.stream()) hash.update(chunk);
  return hash.digest('hex');
}

export interface FilesOptions {
  readonly isChecked: boolean;
}

/** The step that puts files into a workspace; undefined when nothing is known to differ. */
export async function filesStep(
  lodge: Lodge,
  local: LocalFiles,
  agent: Agent | undefined,
  { isChecked }: FilesOptions,
  call: Acting['call'],
): Promise<Step | undefined> {
  const before = agent?.metadata[filesKey];
  const isDigestSame = before === local.digest;
  const isAwake = agent?.status === 'running';
  if (agent === undefined) return putStep(local, [count(local.files.length)], undefined);
  if (isDigestSame && !(isChecked && isAwake)) return undefined;
  if (!isAwake) {
    const note = 'It sleeps: it is woken to compare its files, and those that differ are put.';
    return putStep(local, [{ field: 'files', from: 'other files', to: `${local.files.length} files` }], note);
  }
  const { put, remove } = await compare(lodge, agent.id, local, call);
  if (put.length + remove.length === 0) return undefined;
  const changes = [
    ...put.slice(0, maxNamed).map(({ to }) => ({ field: `files ${to}`, from: null, to: 'put' })),
    ...remove.slice(0, maxNamed).map((path) => ({ field: `files ${path}`, from: 'there', to: null })),
    ...(put.length > maxNamed || remove.length > maxNamed ? [count(put.length + remove.length)] : []),
  ];
  return putStep(local, changes, undefined);
}

const count = (files: number): FieldChange => ({ field: 'files', from: null, to: `${files} files` });

function putStep(local: LocalFiles, changes: readonly FieldChange[], note: string | undefined): Step {
  return {
    action: 'update',
    what: 'workspace',
    changes,
    ...(note !== undefined && { note }),
    async do(acting, id) {
      const { lodge, call } = acting;
      const slept = await awake(acting, id);
      const { put, remove } = await compare(lodge, id, local, call);
      for (const [at, file] of put.entries()) {
        acting.say(`Putting files, ${at + 1} of ${put.length}`);
        await lodge.files.write(id, file.to, await file.body(), call);
      }
      for (const path of remove) await lodge.files.delete(id, path, call);
      // The digest is kept only when all files are there.
      await lodge.agents.update(id, { metadata: { [filesKey]: local.digest } }, call);
      if (slept) await lodge.agents.stop(id, {}, call);
    },
  };
}

const waitMs = 30 * 60_000;

/** Waits until the machine runs, and starts one that was stopped. Returns whether it was. */
async function awake({ lodge, call, say }: Acting, id: string): Promise<boolean> {
  const { status, transition } = await lodge.agents.get(id, call);
  if (status === 'running' && transition === null) return false;
  const wasStopped = status === 'stopped' && transition === null;
  say('Waiting for the machine');
  if (status === 'paused') await lodge.agents.resume(id, {}, call);
  else if (wasStopped) await lodge.agents.start(id, {}, call);
  await lodge.agents.waitUntil(id, 'running', { ...call, timeoutMs: waitMs });
  return wasStopped;
}
