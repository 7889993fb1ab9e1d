import type { Readable } from 'node:stream';
import type { UploadState, WriteResult } from './protocol.ts';
import { uploadStateFrom, writeResultFrom, type Reply } from './shape.ts';
import { smallJson, stallMs, type CallOptions, type Transport } from './transport.ts';

/** Files that come to the workspace in parts. The daemon of an older image answers 404 (`isUnknownRoute`). */
export interface GuestUploads {
  /** Returns how much of an upload is on the disk: no bytes where none came. */
  state(id: string, options?: CallOptions): Promise<UploadState>;
  /** Appends a part, if the upload has just `offset` bytes. Bytes that came before a cut stay. */
  append(
    id: string,
    offset: number,
    body: Readable | Uint8Array,
    options: { readonly signal: AbortSignal },
  ): Promise<UploadState>;
  /** Puts an upload of just `size` bytes in its place. The conditions are those of `GuestWorkspace.write`. */
  finish(
    id: string,
    file: { readonly path: string; readonly size: number; readonly match?: string; readonly absent?: boolean },
    options?: CallOptions,
  ): Promise<WriteResult>;
  /** Removes an upload, also one that nobody began. */
  remove(id: string, options?: CallOptions): Promise<void>;
}

export function uploadsOf(transport: Transport): GuestUploads {
  const json = (
    method: 'GET' | 'POST' | 'DELETE',
    query: Readonly<Record<string, string>>,
    options?: CallOptions,
  ): Promise<Reply> => transport.json(method, pathFor(query), undefined, options, transport.longMs);
  return {
    state: async (id, options) => uploadStateFrom(await json('GET', { id }, options)),
    append: async (id, offset, body, { signal }) => {
      const call = { method: 'PUT', path: pathFor({ id, offset: String(offset) }), body } as const;
      return uploadStateFrom(await smallJson(await transport.stream(call, { signal, stallMs }), 'PUT /v1/uploads'));
    },
    finish: async (id, { path, size, match, absent }, options) => {
      const conditions = { ...(match !== undefined && { match }), ...(absent === true && { absent: 'true' }) };
      return writeResultFrom(await json('POST', { id, path, size: String(size), ...conditions }, options));
    },
    remove: async (id, options) => {
      await json('DELETE', { id }, options);
    },
  };
}

const pathFor = (query: Readonly<Record<string, string>>): string =>
  `/v1/uploads?${new URLSearchParams(query).toString()}`;
