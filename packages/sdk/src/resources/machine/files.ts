import { FileContent } from '../../http/content.ts';
import type { Pages } from '../../http/page.ts';
import { sendable, Upload } from '../../http/upload.ts';
import type { FileBody, OnProgress } from '../../http/upload.ts';
import { agentPath, segment } from '../../http/url.ts';
import type { CallOptions, IfMatch, WithQuery } from '../../options.ts';
import type { AgentFile, FileDeleted, FileList } from '../../types.ts';
import { Resource, split } from '../resource.ts';
import type { QueryOf } from '../resource.ts';

type Wake = WithQuery<Pick<QueryOf<'getAgentFile'>, 'wake'>>;

export interface ListFiles extends Pick<QueryOf<'getAgentFile'>, 'limit' | 'cursor' | 'wake'> {
  /** The folder, in the workspace; the workspace itself by default. */
  readonly path?: string | undefined;
}

export interface ReadOptions extends IfMatch {
  /** Reads from this byte on. */
  readonly from?: number | undefined;
}

export interface WriteOptions extends IfMatch {
  /** True: nothing may be there yet; else it is a `ConflictError`. */
  readonly isNew?: boolean | undefined;
  readonly onProgress?: OnProgress | undefined;
}

/** Bytes a second that a slow line takes; browsers do not tell how far an upload is. */
const slowestBytesPerSecond = 50_000;

/** Files of an agent's workspace. Paths are relative to it. */
export class Files extends Resource {
  /** A folder's entries, by name. */
  list(agentId: string, { path = '', ...query }: ListFiles = {}, options?: CallOptions): Pages<FileList> {
    return this.pagesOf(filePath(agentId, path), options, { list: '1', ...query });
  }

  /** Opens a file for reading. Take its contents by one of the methods of what this resolves to. */
  async read(agentId: string, path: string, options: Wake & ReadOptions = {}): Promise<FileContent> {
    const { from = 0, ifMatch, ...others } = options;
    const { call: given, rest: query } = split(others);
    const call = { method: 'GET', path: filePath(agentId, path), query, headers: { 'if-match': ifMatch } };
    return FileContent.open(this.http, call, given, from);
  }

  /** Writes a file of up to 64 MiB, whole or not at all. Folders on the way are made. */
  async write(agentId: string, path: string, body: FileBody, options: Wake & WriteOptions = {}): Promise<AgentFile> {
    const { onProgress, ...others } = options;
    return this.upload(agentId, path, new Upload(await sendable(body), { onProgress }), others);
  }

  /** As `write`, with a body that can be made anew for each try. */
  upload(
    agentId: string,
    path: string,
    upload: Upload,
    { isNew, ...options }: Wake & Omit<WriteOptions, 'onProgress'> = {},
  ): Promise<AgentFile> {
    const slowMs = 60_000 + ((upload.size ?? 0) / slowestBytesPerSecond) * 1000;
    const headers = { 'content-type': 'application/octet-stream', ...(isNew && { 'if-none-match': '*' }) };
    return this.sendJson('PUT', filePath(agentId, path), options, { upload, slowMs, headers });
  }

  makeFolder(agentId: string, path: string, options?: Wake): Promise<AgentFile> {
    return this.sendJson('PUT', filePath(agentId, path), options, { query: { directory: '1' } });
  }

  /** Removes a file, or an empty folder; with `recursive` a folder with all that is in it. */
  delete(
    agentId: string,
    path: string,
    options?: IfMatch & WithQuery<QueryOf<'deleteAgentFile'>>,
  ): Promise<FileDeleted> {
    return this.sendJson('DELETE', filePath(agentId, path), options);
  }

  /** Everything below a folder, each folder before what is in it. Links are not followed. */
  async *walk(agentId: string, path = '', options?: CallOptions): AsyncGenerator<AgentFile, void> {
    const folders = [path];
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      for await (const entry of this.list(agentId, { path: folder, limit: 1000 }, options)) {
        yield entry;
        if (entry.type === 'directory') folders.push(entry.path);
      }
    }
  }
}

/** Slashes separate folders; one at either end is dropped. */
function filePath(agentId: string, path: string): string {
  const segments = path.replace(/^\//, '').replace(/\/$/, '').split('/');
  const inside = path === '' || path === '/' ? '' : segments.map((each) => `/${segment(each)}`).join('');
  return `${agentPath(agentId, 'files')}${inside}`;
}
