/** Downloads a workspace for `lodge export --files`. Names in it are an agent's own, so each is looked at first. */
import { mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Agent, Lodge } from '@lodge/sdk';
import { filesKey, localFiles } from '../files.ts';

const maxFiles = 20_000;
const maxBytes = 64 * 1024 * 1024;

/**
 * Returns how many entries are left out: links, special files, and what could not be put back. An agent that was stopped is
 * stopped again. The digest of what was read is kept, so that `apply` of it changes nothing while the agent sleeps.
 */
export async function downloadWorkspace(
  lodge: Lodge,
  { id, status }: Agent,
  folder: string,
  call: { readonly signal: AbortSignal },
): Promise<number> {
  const wasStopped = status === 'stopped';
  if (wasStopped) {
    await lodge.agents.start(id, {}, call);
    await lodge.agents.waitUntil(id, 'running', call);
  }
  await mkdir(folder, { recursive: true });
  let leftOut = 0;
  let files = 0;
  const folders = [''];
  for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
    for await (const entry of lodge.files.list(id, { path: next, limit: 1000 }, call)) {
      const path = entry.path.replace(/^\//, '');
      if (!isPlain(path)) leftOut += 1;
      else if (entry.type === 'directory') folders.push(path);
      else if (entry.type !== 'file' || entry.size > maxBytes) leftOut += 1;
      else {
        files += 1;
        if (files > maxFiles) throw new Error(`The workspace has more than ${maxFiles} files.`);
        await download(lodge, id, path, join(folder, path), call);
      }
    }
  }
  const { digest } = await localFiles([{ from: '.', to: '/' }], folder);
  await lodge.agents.update(id, { metadata: { [filesKey]: digest } }, call);
  if (wasStopped) await lodge.agents.stop(id, {}, call);
  return leftOut;
}

/** Whether a path leads into the folder, on every system. */
const isPlain = (path: string): boolean =>
  path !== '' &&
  path
    .split('/')
    .every((part) => part !== '' && part !== '.' && part !== '..' && part !== '.git' && !/[\p{Cc}\\:]/u.test(part));

async function download(
  lodge: Lodge,
  id: string,
  path: string,
  to: string,
  call: { readonly signal: AbortSignal },
): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  const content = await lodge.files.read(id, path, call);
  const file = await open(to, 'w', 0o644);
  try {
    let bytes = 0;
    for await (const chunk of content.stream()) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw new Error(`${JSON.stringify(path)} grew while it was read.`);
      await file.write(chunk);
    }
  } finally {
    await file.close();
  }
}
