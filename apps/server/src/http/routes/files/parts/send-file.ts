/** A file of a guest's workspace as a reply: the bytes, a part of them, their facts alone, or that the client has them. */
import { Refusal } from '@lodge/domain';
import type { Content, Entry } from '@lodge/guest';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ofGuest } from '../../../guest/guest-error.ts';
import type { LiveGuest } from '../../../guest/live-guest.ts';
import { collected } from './collected.ts';
import { ifMatchHolds, ifNoneMatchHolds, partOf } from './conditions.ts';
import { contentTypeOf, dispositionOf } from './content-type.ts';
import { etagOf } from './file.ts';

type Guest = Pick<LiveGuest, 'guest' | 'signal'>;

export async function sendFile(live: Guest, request: FastifyRequest, reply: FastifyReply, path: string) {
  if (request.method === 'HEAD') return head(live, request, reply, path);
  const { range, 'if-range': ifRange } = request.headers;
  const part = partOf(range, typeof ifRange === 'string' ? ifRange : undefined);
  const content = await ofGuest(live.guest.workspace.read(path, part, live)).catch(async (error: unknown) => {
    throw await withSize(error, live, path, reply);
  });
  if (!describe(request, reply, path, content.entry)) {
    content.stream.destroy();
    return reply.send();
  }
  return sendContent(reply, content);
}

function sendContent(reply: FastifyReply, { stream, length, range }: Content) {
  if (range !== null) reply.code(206).header('content-range', range);
  return reply.header('content-length', length).send(Readable.from(collected(stream), { objectMode: false }));
}

async function head({ guest, signal }: Guest, request: FastifyRequest, reply: FastifyReply, path: string) {
  const entry = await ofGuest(guest.workspace.entry(path, { signal }));
  if (entry.type !== 'file') throw notAFile();
  return describe(request, reply, path, entry)
    ? reply.header('content-length', entry.size).send(Readable.from([]))
    : reply.send();
}

/** Puts the file's facts into headers; returns false when the client has this version already. */
function describe({ headers }: FastifyRequest, reply: FastifyReply, path: string, entry: Entry): boolean {
  if (!ifMatchHolds(headers['if-match'], entry.version)) {
    throw new Refusal('precondition_failed', 'Another version of the file is there than If-Match asks for.');
  }
  reply.headers({
    etag: etagOf(entry),
    'last-modified': new Date(entry.modifiedMs).toUTCString(),
    'cache-control': 'private, no-cache',
  });
  if (!ifNoneMatchHolds(headers['if-none-match'], entry.version)) {
    reply.code(304);
    return false;
  }
  reply.type(contentTypeOf(path)).headers({
    'accept-ranges': 'bytes',
    'content-disposition': dispositionOf(path),
    'content-security-policy': "sandbox; default-src 'none'",
  });
  return true;
}

/** Adds the file's size to the refusal of a range that it does not have. */
async function withSize(error: unknown, { guest, signal }: Guest, path: string, reply: FastifyReply): Promise<unknown> {
  if (!(error instanceof Refusal) || error.code !== 'range_not_satisfiable') return error;
  const { size } = await ofGuest(guest.workspace.entry(path, { signal }));
  reply.header('content-range', `bytes */${size}`);
  return error;
}

const notAFile = (): Refusal =>
  new Refusal('file_conflict', 'This cannot be done with what is at the path: path is not a regular file.');
