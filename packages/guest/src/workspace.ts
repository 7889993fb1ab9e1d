import type { Readable } from 'node:stream';
import { textBounds } from '@lodge/domain';
import { GuestError, ReplyTooLongError } from './call.ts';
import type { Entry, EntryList, WriteResult } from './protocol.ts';
import { entryFrom, entryListFrom, replyFrom, unexpected, writeResultFrom } from './shape.ts';
import { smallJson, stallMs, type CallOptions, type Transport } from './transport.ts';

/** Factor by which a page is shrunk when its names and links do not fit into the page's bounds. */
const listShrinks = 8;

/** A part of a file. A negative `from` asks for that many of the last bytes. */
export interface Part {
  readonly from: number;
  readonly to?: number;
  /** Reads only this version; of another version the whole file is returned. */
  readonly version?: string;
}

export interface Content {
  readonly entry: Entry;
  readonly stream: Readable;
  /** Bytes that `stream` yields. It fails when some are missing. */
  readonly length: number;
  /** The part of the file, in the form of `content-range`; null for the whole. */
  readonly range: string | null;
}

/** The agent's workspace. Paths are relative to it; no link leads out of it. */
export interface GuestWorkspace {
  entry(path: string, options?: CallOptions): Promise<Entry>;
  /**
   * Returns up to `limit` and `maxListEntries` entries behind the name `after`; fewer, with `more`, when names or links are
   * very long.
   */
  list(
    path: string,
    page: { readonly after: string; readonly limit: number },
    options?: CallOptions,
  ): Promise<EntryList>;
  read(path: string, part: Part | null, options: { readonly signal: AbortSignal }): Promise<Content>;
  /**
   * Writes a file whole or not at all. One of the versions `match` (or any, with `*`) must be there; with `absent` nothing
   * may be there.
   */
  write(
    path: string,
    body: Readable | Uint8Array,
    conditions: { readonly match?: string; readonly absent?: boolean },
    options: { readonly signal: AbortSignal },
  ): Promise<WriteResult>;
  makeFolder(path: string, options?: CallOptions): Promise<WriteResult>;
  /** Removes an entry; a folder that is not empty only with `recursive`. */
  remove(
    path: string,
    how: { readonly match?: string; readonly recursive: boolean },
    options?: CallOptions,
  ): Promise<void>;
}

export function workspaceOf(transport: Transport): GuestWorkspace {
  const { longMs, shortMs } = transport;
  return {
    entry: async (path, options) =>
      entryFrom(await transport.json('GET', pathFor('/entry', { path }), undefined, options)),
    list: async (path, { after, limit }, options) => {
      for (let wanted = limit; ; wanted = Math.ceil(wanted / listShrinks)) {
        try {
          const url = pathFor('/list', { path, after, limit: String(wanted) });
          const reply = await transport.json('GET', url, undefined, options, longMs, textBounds.fileList);
          return entryListFrom(reply, wanted);
        } catch (error) {
          if (!(error instanceof ReplyTooLongError) || wanted === 1) throw error;
        }
      }
    },
    read: (path, part, { signal }) => read(transport, path, part, signal),
    write: async (path, body, { match, absent }, { signal }) => {
      const query = { path, ...(match !== undefined && { match }), ...(absent === true && { absent: 'true' }) };
      const call = { method: 'PUT', path: pathFor('', query), body } as const;
      return writeResultFrom(await smallJson(await transport.stream(call, { signal, stallMs }), 'PUT /v1/workspace'));
    },
    makeFolder: async (path, options) =>
      writeResultFrom(await transport.json('PUT', pathFor('/folder', { path }), undefined, options)),
    remove: async (path, { match, recursive }, options) => {
      const query = { path, ...(match !== undefined && { match }), recursive: String(recursive) };
      await transport.json('DELETE', pathFor('', query), undefined, options, longMs + shortMs);
    },
  };
}

const pathFor = (route: string, query: Readonly<Record<string, string>>): string =>
  `/v1/workspace${route}?${new URLSearchParams(query).toString()}`;

async function read(transport: Transport, path: string, part: Part | null, signal: AbortSignal): Promise<Content> {
  const query = {
    path,
    ...(part && { from: String(part.from) }),
    ...(part?.to !== undefined && { to: String(part.to) }),
    ...(part?.version !== undefined && { version: part.version }),
  };
  const stream = await transport.stream({ method: 'GET', path: pathFor('', query) }, { signal, stallMs });
  try {
    const { headers, statusCode } = stream;
    const entry = entryFrom(replyFrom(String(headers['x-guestd-entry']), 'GET /v1/workspace'));
    const length = Number(headers['content-length']);
    const range = statusCode === 206 ? String(headers['content-range']) : null;
    if (!isContent(entry, length, range)) throw unexpected();
    return { entry, stream, length, range };
  } catch (error) {
    stream.destroy();
    throw error;
  }
}

function isContent({ size }: Entry, length: number, range: string | null): boolean {
  if (range === null) return length === size;
  const [, first, last, whole] = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/.exec(range) ?? [];
  return Number(whole) === size && Number(last) < size && Number(last) - Number(first) + 1 === length && length > 0;
}

/** Whether the guest's daemon has an older image that does not know the request. */
export const isUnknownRoute = (error: unknown): boolean =>
  error instanceof GuestError && error.status === 404 && error.reason === 'no such route';
