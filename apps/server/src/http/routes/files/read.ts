import {
  AgentFile,
  AgentParams,
  FileList,
  FileParams,
  ReadFileHeaders,
  ReadFileQuery,
  defaultFileLimit,
  isSet,
} from '@lodge/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { App } from '../../app-types.ts';
import type { GuestAccess } from '../../needs.ts';
import { filePath, fileRecord } from './parts/file.ts';
import { sendFile } from './parts/send-file.ts';
import type { Cursors } from '../../reply/cursors.ts';
import { ofGuest } from '../../guest/guest-error.ts';
import { liveGuest } from '../../guest/live-guest.ts';
import { fileErrors, transferMs } from './shared.ts';

const bytes = { schema: Type.Unsafe({ type: 'string', format: 'binary' }) };
const description =
  "A file's bytes, or with `list=1` what is in a folder. The bytes come from inside the agent's machine: they are sent as a download, never to be shown by a browser. A paused agent is resumed first; a stopped one answers 409, unless `wake=true`, which takes the scope `agents:write`, or its `lifecycle.auto_start` says that it is to be started.";
const schema = {
  tags: ['Files'],
  description,
  headers: ReadFileHeaders,
  querystring: ReadFileQuery,
  response: {
    200: {
      description: 'The bytes, with ETag, Last-Modified and Accept-Ranges; or the list.',
      content: { 'application/json': { schema: FileList }, 'application/octet-stream': bytes },
    },
    206: { description: 'The range that was asked for.', content: { 'application/octet-stream': bytes } },
    304: { description: 'If-None-Match names the version that is there.', type: 'null' },
  },
};
const config = {
  rate: 'calls',
  scopes: ['agents:read'],
  wakeScope: 'agents:write',
  errors: [...fileErrors, 'precondition_failed', 'range_not_satisfiable'],
} as const;

interface Needs extends GuestAccess {
  readonly cursors: Cursors;
}

export function readFileRoutes(app: App, context: Needs): void {
  const handler = (request: FastifyRequest, reply: FastifyReply) => read(context, request, reply);
  const options = { method: 'GET', config, compress: false, handler } as const;
  app.route({
    ...options,
    url: '/v1/agents/:id/files/*',
    schema: {
      ...schema,
      operationId: 'getAgentFile',
      summary: "Read a file of an agent's workspace",
      params: FileParams,
    },
  });
  app.route({
    ...options,
    url: '/v1/agents/:id/files',
    schema: { ...schema, operationId: 'listAgentFiles', summary: "List an agent's workspace", params: AgentParams },
  });
}

async function read(context: Needs, request: FastifyRequest, reply: FastifyReply) {
  const query = request.query as ReadFileQuery;
  const path = filePath(request);
  if (isSet(query.list)) return list(context, request, reply, path);
  return sendFile(await liveGuest(context, request, reply, transferMs), request, reply, path);
}

async function list(context: Needs, request: FastifyRequest, reply: FastifyReply, path: string) {
  const { cursors } = context;
  const { accountId } = request.principal;
  const { id } = request.params as { readonly id: string };
  const { limit = defaultFileLimit, cursor } = request.query as ReadFileQuery;
  // A cursor is a name in one folder of one agent.
  const kind = `files:${id}:${path}`;
  const after = cursor === undefined ? '' : cursors.open(kind, accountId, cursor);
  const { guest, signal } = await liveGuest(context, request, reply, transferMs);
  const { entries, more } = await ofGuest(guest.workspace.list(path, { after, limit }, { signal }));
  const data = entries
    .slice(0, limit)
    .map(({ name, target, ...entry }): AgentFile => fileRecord(path === '' ? name : `${path}/${name}`, entry, target));
  const last = data.at(-1);
  const isMore = more && last !== undefined;
  const next = isMore ? last.name : null;
  return { object: 'list' as const, data, has_more: isMore, next_cursor: cursors.seal(kind, accountId, next) };
}
