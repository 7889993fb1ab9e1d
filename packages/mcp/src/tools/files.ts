import type { Lodge } from '@lodge/sdk';
import * as z from 'zod';
import { agentId, cursor, limitOf, nextCursor, path } from '../inputs.ts';
import { base64Of, bytesOfBase64, cutText, maxResultBytes, textOf, wholeCharacters } from '../text.ts';
import { ToolError, destroys, reads, theirs, tool } from '../tool.ts';
import type { Tool } from '../tool.ts';

const maxContentChars = 700_000;
const filePath = path('Path in the workspace, such as notes/today.md.');

const entry = z.object({ path: z.string(), type: z.string(), size: z.number(), modified_at: z.string() });

const listFiles = tool({
  name: 'list_files',
  title: 'List files',
  description:
    "Lists what is in a folder of an agent's workspace, by name. A paused agent wakes; a stopped one must be started first.",
  scopes: ['agents:read'],
  annotations: reads,
  doing: 'Lists files',
  input: z.strictObject({
    agent_id: agentId,
    path: path('Folder; the workspace itself by default.').optional(),
    limit: limitOf(200, 100, 'entries'),
    cursor,
  }),
  output: z.object({ entries: z.array(entry), next_cursor: nextCursor }),
  run: async ({ agent_id, path, limit, cursor }, { lodge, signal }) => {
    const page = await lodge.files.list(
      agent_id,
      { limit, ...(path && { path }), ...(cursor && { cursor }) },
      { signal },
    );
    const entries = page.data.map(({ path, type, size, modified_at }) => ({
      // A name may have 255 bytes, and a path many of them.
      path: cutText(path, 300).text,
      type,
      size,
      modified_at,
    }));
    return { structured: { entries, next_cursor: page.next_cursor } };
  },
});

const readFile = tool({
  name: 'read_file',
  title: 'Read a file',
  description:
    "Reads a file of an agent's workspace, 64 KiB at most at a time. The result says at which offset to read on. Bytes that are no text come as base64.",
  scopes: ['agents:read'],
  annotations: reads,
  doing: 'Reads the file',
  input: z.strictObject({
    agent_id: agentId,
    path: filePath,
    offset: z.int().min(0).max(Number.MAX_SAFE_INTEGER).default(0).describe('Byte to begin at.'),
    max_bytes: z.int().min(16).max(maxResultBytes).default(maxResultBytes).describe('Most bytes to read.'),
  }),
  run: async ({ agent_id, path, offset, max_bytes }, { lodge, signal }) => {
    const read = await readRange(lodge, { agentId: agent_id, path, offset, maxBytes: max_bytes, signal });
    const { text, encoding, next, size } = read;
    const where = `bytes ${offset} to ${next} of ${size}`;
    const end = next < size ? `Read on with offset ${next}.` : 'That is the end of the file.';
    return { texts: [theirs(`A file of the agent, ${where}, as ${encoding}. ${end}`), text] };
  },
});

export interface Range {
  readonly agentId: string;
  readonly path: string;
  readonly offset: number;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

export interface ReadRange {
  readonly text: string;
  readonly encoding: 'text' | 'base64';
  /** Offset after what was read. */
  readonly next: number;
  readonly size: number;
  readonly type: string;
}

/** Reads a part of a file. Text ends with a whole character. */
export async function readRange(lodge: Lodge, { agentId, path, offset, maxBytes, signal }: Range): Promise<ReadRange> {
  // Bytes beyond the bound are not read: the connection is cut. Three more make the last character whole.
  const file = await lodge.files.read(agentId, path, { from: offset, signal });
  const bytes = await upTo(file.stream(), maxBytes + 3);
  const { size, type } = file;
  const fits = wholeCharacters(bytes, maxBytes);
  const text = textOf(bytes.subarray(0, fits));
  if (text !== null) return { text, encoding: 'text', next: offset + fits, size, type };
  // A character may begin before the offset.
  const part = bytes.subarray(0, Math.floor(maxBytes * 0.75));
  return { text: base64Of(part), encoding: 'base64', next: offset + part.length, size, type };
}

/** The first bytes of a stream, which is then cut. */
async function upTo(stream: ReadableStream<Uint8Array>, maxBytes: number): Promise<Uint8Array> {
  const kept = new Uint8Array(maxBytes);
  let length = 0;
  const reader = stream.getReader();
  try {
    while (length < maxBytes) {
      const { done, value } = await reader.read();
      if (done) break;
      const part = value.subarray(0, maxBytes - length);
      kept.set(part, length);
      length += part.length;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
  return kept.subarray(0, length);
}

const written = z.object({ path: z.string(), size: z.number(), etag: z.string() });

const writeFile = tool({
  name: 'write_file',
  title: 'Write a file',
  description:
    "Writes a whole file of an agent's workspace, with the folders it needs; a file of that name is replaced. With if_match it is written only if it has not changed since; with create_only only if nothing is there.",
  scopes: ['agents:write'],
  annotations: destroys,
  doing: 'Writes the file',
  input: z.strictObject({
    agent_id: agentId,
    path: filePath,
    content: z.string().max(maxContentChars).describe('The whole content.'),
    encoding: z.enum(['text', 'base64']).default('text').describe('base64: content is bytes in base64.'),
    if_match: z.string().min(1).max(200).optional().describe('etag of the version that is replaced.'),
    create_only: z.boolean().default(false).describe('Refuse if something is there.'),
  }),
  output: written,
  run: async ({ agent_id, path, content, encoding, if_match, create_only }, { lodge, signal }) => {
    const { size, etag, ...file } = await lodge.files.write(agent_id, path, contentOf(content, encoding), {
      signal,
      ...(if_match !== undefined && { ifMatch: if_match }),
      ...(create_only && { isNew: true }),
    });
    return { structured: { path: cutText(file.path, 300).text, size, etag } };
  },
});

function contentOf(content: string, encoding: 'text' | 'base64'): string | Uint8Array<ArrayBuffer> {
  if (encoding === 'text') return content.toWellFormed();
  try {
    return bytesOfBase64(content);
  } catch {
    throw new ToolError('content is not base64.');
  }
}

const deleteFile = tool({
  name: 'delete_file',
  title: 'Delete a file',
  description:
    "Deletes a file or an empty folder of an agent's workspace; with recursive a folder with all that is in it. Nothing brings it back.",
  scopes: ['agents:write'],
  annotations: destroys,
  doing: 'Deletes the file',
  input: z.strictObject({
    agent_id: agentId,
    path: filePath,
    recursive: z.boolean().default(false).describe('A folder goes with all that is in it.'),
  }),
  output: z.object({ path: z.string(), deleted: z.literal(true) }),
  run: async ({ agent_id, path, recursive }, { lodge, signal }) => {
    const deleted = await lodge.files.delete(agent_id, path, { signal, ...(recursive && { recursive: true }) });
    return { structured: { path: cutText(deleted.path, 300).text, deleted: true as const } };
  },
});

export const fileTools: readonly Tool[] = [listFiles, readFile, writeFile, deleteFile];
