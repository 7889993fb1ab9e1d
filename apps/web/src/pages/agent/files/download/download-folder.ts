/** Downloads a folder as a ZIP: straight into a file where the browser lets a page write one, else through memory. */
import type { AgentFile } from '@lodge/sdk';
import { lodge, read } from '../../../../api.ts';
import { saveFile } from '../../../../components/save-file.ts';
import { nameOf } from '../file-paths.ts';

const maxEntries = 20_000;
/** The bytes that a page holds in memory. */
const maxMemoryBytes = 256 * 1024 * 1024;
/** Below this size nobody is asked where to. */
const minStreamedBytes = 64 * 1024 * 1024;

export interface ZipProgress {
  readonly files: number;
  readonly bytes: number;
  readonly allBytes: number;
}

/** A refusal in the page's own words. */
export class DownloadRefused extends Error {}

interface Writable extends WritableStream<Uint8Array> {}
interface SavePicker {
  showSaveFilePicker?(options: { suggestedName: string }): Promise<{ createWritable(): Promise<Writable> }>;
}

interface DownloadOptions {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: ZipProgress) => void;
}

export const downloadFolder = (agentId: string, folder: string, options: DownloadOptions): Promise<void> =>
  read(download(agentId, folder, options));

async function download(agentId: string, folder: string, { signal, onProgress }: DownloadOptions): Promise<void> {
  const { entries, allBytes } = await listed(agentId, folder, signal);
  const zipName = `${zipSafe(nameOf(folder) || 'workspace')}.zip`;
  const picker = (window as SavePicker).showSaveFilePicker?.bind(window);
  const streams = picker !== undefined && allBytes > minStreamedBytes;
  if (!streams && allBytes > maxMemoryBytes) {
    throw new DownloadRefused(
      `This folder is larger than the ${maxMemoryBytes / 1024 ** 2} MiB that a page can hold here. Copy it with the command line: lodge files get.`,
    );
  }
  const target = streams ? await (await picker({ suggestedName: zipName })).createWritable() : null;
  const { makeZip } = await import('client-zip');
  const stream = makeZip(contents({ agentId, folder, entries, allBytes, signal, onProgress }));
  if (target === null) saveFile(zipName, await new Response(stream).blob());
  else await stream.pipeTo(target, { signal });
}

async function listed(agentId: string, folder: string, signal: AbortSignal) {
  const entries: AgentFile[] = [];
  let allBytes = 0;
  for await (const entry of lodge.files.walk(agentId, folder, { signal })) {
    // A link is not followed: it may lead anywhere in the workspace.
    if (entry.type !== 'file' && entry.type !== 'directory') continue;
    if (entries.length >= maxEntries) {
      throw new DownloadRefused(`This folder has more than ${maxEntries} entries. Copy it with the command line.`);
    }
    entries.push(entry);
    if (entry.type === 'file') allBytes += entry.size;
  }
  return { entries, allBytes };
}

interface Contents {
  readonly agentId: string;
  readonly folder: string;
  readonly entries: readonly AgentFile[];
  readonly allBytes: number;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: ZipProgress) => void;
}

async function* contents({ agentId, folder, entries, allBytes, signal, onProgress }: Contents) {
  let files = 0;
  let bytes = 0;
  const names = new Set<string>();
  for (const { path, type, modified_at: modifiedAt } of entries) {
    const inside = path.slice(folder === '' ? 0 : folder.length + 1);
    const name = unused(inside.split('/').map(zipSafe).join('/'), names);
    const lastModified = new Date(modifiedAt);
    if (type === 'directory') {
      yield { name: `${name}/`, lastModified };
      continue;
    }
    const content = await read(lodge.files.read(agentId, path, { signal }));
    async function* counted() {
      for await (const chunk of content) {
        bytes += chunk.length;
        // The folder may grow while it is read.
        if (bytes > allBytes * 2 + maxMemoryBytes) throw new DownloadRefused('The folder grows while it is read.');
        onProgress({ files, bytes, allBytes });
        yield chunk;
      }
    }
    yield { name, lastModified, input: counted() };
    files += 1;
  }
}

/**
 * A name as an entry of an archive. On Windows a backslash parts folders and a colon names a drive, so with them an agent could
 * choose where on its owner's disk a file is unpacked.
 */
const zipSafe = (name: string): string =>
  // oxlint-disable-next-line no-control-regex -- they are what is replaced
  name.replaceAll(/[\\:*?"<>|\u0000-\u001F\u007F]/g, '_').replace(/[. ]$/, '_');

/** Two names may have become one. */
function unused(name: string, names: Set<string>): string {
  let free = name;
  for (let copy = 2; names.has(free); copy += 1) free = `${name} (${copy})`;
  names.add(free);
  return free;
}
