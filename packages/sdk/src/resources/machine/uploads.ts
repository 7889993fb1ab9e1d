import { sendable, Upload as Body } from '../../http/upload.ts';
import type { FileBody } from '../../http/upload.ts';
import { agentPath } from '../../http/url.ts';
import type { CallOptions, IfMatch } from '../../options.ts';
import type { AgentFile, FinishUpload, Upload, UploadDeleted } from '../../types.ts';
import type { WriteOptions } from './files.ts';
import { Resource } from '../resource.ts';

/** Time that a part on a slow line needs. */
const slowMs = 20 * 60_000;

/**
 * Files of up to 64 GiB, sent in parts of up to 64 MiB each under an id that you choose: 16 to 64 letters, digits, `_` and
 * `-`. Nothing is under the file's name before `finish`.
 */
export class Uploads extends Resource {
  /** Appends a part at `offset`. A part that begins elsewhere is a `ConflictError`: ask `get` where the upload ends. */
  async append(
    agentId: string,
    id: string,
    offset: number,
    part: FileBody,
    { onProgress, ...options }: CallOptions & Pick<WriteOptions, 'onProgress'> = {},
  ): Promise<Upload> {
    const upload = new Body(await sendable(part), { onProgress });
    const headers = { 'content-type': 'application/octet-stream', 'upload-offset': String(offset) };
    return this.sendJson('PATCH', uploadPath(agentId, id), options, { upload, slowMs, headers });
  }

  /** How much of it is on the agent's disk; no bytes where nothing has come. */
  get(agentId: string, id: string, options?: CallOptions): Promise<Upload> {
    return this.getJson(uploadPath(agentId, id), options);
  }

  /** Makes a file of all parts, in one step. */
  finish(
    agentId: string,
    id: string,
    body: FinishUpload,
    { isNew, ...options }: CallOptions & IfMatch & Pick<WriteOptions, 'isNew'> = {},
  ): Promise<AgentFile> {
    return this.postJson(uploadPath(agentId, id), body, options, isNew ? { headers: { 'if-none-match': '*' } } : {});
  }

  /** Gives it up. */
  delete(agentId: string, id: string, options?: CallOptions): Promise<UploadDeleted> {
    return this.sendJson('DELETE', uploadPath(agentId, id), options);
  }
}

const uploadPath = (agentId: string, id: string): string => agentPath(agentId, 'uploads', id);
