import { Refusal } from '@lodge/domain';
import { AgentFile, FileParams, WriteFileHeaders, WriteFileQuery, isSet, maxFileBytes } from '@lodge/contract';
import type { WriteResult } from '@lodge/guest';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../../app-types.ts';
import type { GuestAccess } from '../../needs.ts';
import { bodyOf } from './parts/body.ts';
import { conditionsOf } from './parts/conditions.ts';
import { filePath, etagOf, fileRecord } from './parts/file.ts';
import { ofGuest } from '../../guest/guest-error.ts';
import { liveGuest } from '../../guest/live-guest.ts';
import { fileErrors, transferMs } from './shared.ts';

const reply = (description: string) => ({ description, content: { 'application/json': { schema: AgentFile } } });
const schema = {
  operationId: 'putAgentFile',
  tags: ['Files'],
  summary: "Write a file of an agent's workspace",
  description:
    'The body is the file, of any content type, up to 64 MiB; a larger one comes in parts, as an upload. It is there whole or not at all, and kept on the disk when the reply comes. Folders on the way are made. With `directory=1` the path is made a folder.',
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
  const take = bodyOf(request);
  const { guest, signal } = await liveGuest(context, request, reply, transferMs);
  const { workspace } = guest;
  const body = take();
  const result = await ofGuest(
    isSet(directory)
      ? workspace.makeFolder(path, { signal })
      : workspace.write(path, body, conditionsOf(request.headers), { signal }),
  );
  return answer(reply, path, result);
}

function answer(reply: FastifyReply, path: string, { created, entry }: WriteResult): AgentFile {
  reply.code(created ? 201 : 200).header('etag', etagOf(entry));
  return fileRecord(path, entry);
}
