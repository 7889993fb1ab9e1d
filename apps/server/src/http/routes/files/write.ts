import { Refusal } from '@lodge/domain';
import { AgentFile, FileParams, WriteFileHeaders, WriteFileQuery, isSet, maxFileBytes } from '@lodge/contract';
import type { WriteResult } from '@lodge/guest';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import type { App } from '../../app-types.ts';
import type { GuestAccess } from '../../needs.ts';
import { collected } from './parts/collected.ts';
import { matchOf } from './parts/conditions.ts';
import { filePath, etagOf, fileRecord } from './parts/file.ts';
import { ofGuest } from '../../guest/guest-error.ts';
import { liveGuest } from '../../guest/live-guest.ts';
import { extendBody } from '../../listener/listener.ts';
import { fileErrors, transferMs } from './shared.ts';

const reply = (description: string) => ({ description, content: { 'application/json': { schema: AgentFile } } });
const schema = {
  operationId: 'putAgentFile',
  tags: ['Files'],
  summary: "Write a file of an agent's workspace",
  description:
    'The body is the file, of any content type, up to 64 MiB. It is there whole or not at all, and kept on the disk when the reply comes. Folders on the way are made. With `directory=1` the path is made a folder.',
  params: FileParams,
  headers: WriteFileHeaders,
  querystring: WriteFileQuery,
  response: { 200: reply('It was there before.'), 201: reply('It is new.') },
};
const config = {
  rate: 'calls',
  scopes: ['agents:write'],
  bytes: true,
  errors: [...fileErrors, 'disk_full', 'precondition_failed', 'request_too_large'],
} as const;

/** Registers in a separate scope, in which a body of any type is an unread stream. */
export function writeFileRoute(app: App, context: GuestAccess): void {
  app.register(async (scope: App) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, body, done) => done(null, body));
    scope.route({
      method: 'PUT',
      url: '/v1/agents/:id/files/*',
      bodyLimit: maxFileBytes,
      schema,
      config,
      handler: (request, reply) => write(context, request, reply),
    });
  });
}

async function write(context: GuestAccess, request: FastifyRequest, reply: FastifyReply) {
  const { directory } = request.query as WriteFileQuery;
  const path = filePath(request);
  if (path === '') throw new Refusal('invalid_request', 'path must name a file.');
  const { 'content-length': length, 'content-encoding': encoding = 'identity' } = request.headers;
  if (encoding !== 'identity') {
    throw new Refusal('unsupported_media_type', 'Send the body without a Content-Encoding.');
  }
  if (Number(length ?? 0) > maxFileBytes) throw tooLarge();
  const { guest, signal } = await liveGuest(context, request, reply, transferMs);
  const { workspace } = guest;
  extendBody(request.raw, transferMs);
  const body =
    request.body instanceof Readable
      ? Readable.from(bounded(collected(request.body)), { objectMode: false })
      : Buffer.alloc(0);
  const result = await ofGuest(
    isSet(directory)
      ? workspace.makeFolder(path, { signal })
      : workspace.write(path, body, conditionsOf(request), { signal }),
  );
  return answer(reply, path, result);
}

function answer(reply: FastifyReply, path: string, { created, entry }: WriteResult): AgentFile {
  reply.code(created ? 201 : 200).header('etag', etagOf(entry));
  return fileRecord(path, entry);
}

function conditionsOf({ headers }: FastifyRequest): { readonly match?: string; readonly absent?: boolean } {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers;
  if (ifNoneMatch !== undefined && ifNoneMatch.trim() !== '*') {
    throw new Refusal('invalid_request', 'if-none-match must be * here: nothing may be there.');
  }
  const match = matchOf(ifMatch);
  return { ...(match !== undefined && { match }), ...(ifNoneMatch !== undefined && { absent: true }) };
}

/** Bounds a body without Content-Length. */
async function* bounded(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maxFileBytes) throw tooLarge();
    yield chunk;
  }
}

const tooLarge = (): Refusal => new Refusal('request_too_large', 'A file may have at most 64 MiB.');
