import { AgentParams, ChatQuery, ExportAgent } from '@lodge/contract';
import type { Portable } from '@lodge/engine';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import { Type } from 'typebox';
import type { App } from '../../app-types.ts';
import { guestErrors } from '../../guest/guest-error.ts';
import { actorNote } from '../../identity/change-note.ts';
import type { AgentReplies, GuestAccess } from '../../needs.ts';
import { replySignal } from '../../pipeline/client-gone.ts';
import { checkAgentId } from '../../reply/agent-record.ts';
import { dispositionOf } from '../files/parts/content-type.ts';
import { wordsOf } from './words.ts';

const bytes = { schema: Type.Unsafe({ type: 'string', format: 'binary' }) };
const schema = {
  operationId: 'exportAgent',
  tags: ['Snapshots'],
  summary: 'Export an agent as one file',
  description:
    'The file has settings, members, schedules, home and workspace, for `POST /v1/agents/import` of this Lodge or another. It has no memory, and no key, token or grant: neither of LLM providers, channels, hooks and connections nor logins of the browser. Files that no import takes are left out: devices, links outwards. A running agent ends its turn first, within 30 s (else 409 `agent_busy`); messages that come meanwhile wait. A paused agent is resumed first; a stopped one answers 409, unless `wake=true` or its `lifecycle.auto_start` says that it is to be started.\n\nWith `snapshot` the files are those of a snapshot, and the agent goes on or stays stopped. The settings are those of today. The snapshot is opened as for one of its files; 409 `snapshot_not_ready` with `Retry-After` says that this still takes a while.\n\nWithout a `passphrase` the file is a tar.gz. With one it is sealed: scrypt makes a key of the passphrase, and AES-256-GCM seals chunks of 64 KiB.',
  params: AgentParams,
  querystring: ChatQuery,
  body: ExportAgent,
  response: {
    200: {
      description: 'The file. One that is cut short is found by the import.',
      content: { 'application/octet-stream': bytes },
    },
  },
};
const config = {
  rate: 'calls',
  scopes: ['agents:write'],
  errors: [...guestErrors, 'agent_busy', 'snapshot_not_found', 'snapshot_not_ready', 'snapshot_damaged'],
} as const;

interface Needs extends AgentReplies, GuestAccess {
  readonly portable: Portable;
}

/** `POST /v1/agents/:id/export`. */
export function exportAgentRoute(app: App, needs: Needs): void {
  app.route({
    method: 'POST',
    url: '/v1/agents/:id/export',
    schema,
    config,
    compress: false,
    handler: (request, reply) => exported(needs, request, reply),
  });
}

async function exported(
  { portable, lifecycleWaitMs, cut, ...needs }: Needs,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const { id } = request.params as { readonly id: string };
  checkAgentId(id);
  request.scope.fields.agent_id = id;
  const { snapshot = null, passphrase = null } = (request.body ?? {}) as ExportAgent;
  const file = await portable.export(request.principal.accountId, id, {
    snapshot,
    passphrase,
    words: wordsOf(needs),
    wake: (request.query as ChatQuery).wake === 'true',
    timeoutMs: lifecycleWaitMs,
    signal: replySignal(reply, cut),
    note: actorNote(request),
  });
  const isSealed = passphrase !== null;
  return reply
    .type('application/octet-stream')
    .headers({
      'content-disposition': dispositionOf(`${file.name.replaceAll('/', '_')}${isSealed ? '.lodge' : '.tar.gz'}`),
      'cache-control': 'no-store',
    })
    .send(Readable.from(file.bytes, { objectMode: false }));
}
