import { ImportHeaders, ImportQuery, ImportedAgent } from '@lodge/contract';
import { Refusal, makeAgentId } from '@lodge/domain';
import type { Portable } from '@lodge/engine';
import type { AgentRow } from '@lodge/store/agents';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { randomInt } from 'node:crypto';
import { Readable } from 'node:stream';
import type { App } from '../../app-types.ts';
import { changeNote } from '../../identity/change-note.ts';
import { extendBody } from '../../listener/listener.ts';
import type { AgentReplies, GuestAccess, Waiting } from '../../needs.ts';
import { clientGone, replySignal } from '../../pipeline/client-gone.ts';
import { agentHeaders, agentPath, agentReply } from '../../reply/agent-record.ts';
import { checkOutcome } from '../agents/create.ts';
import { wantsNoWait } from '../agents/wait.ts';
import { settingsOf } from './words.ts';

const headers = { ...agentHeaders, Location: { type: 'string', description: 'Path of the agent.' } };
/** Bound on the transfer, which takes as long as the client's line needs. */
const transferMs = 60 * 60_000;

const schema = {
  operationId: 'importAgent',
  tags: ['Snapshots'],
  summary: 'Import an agent from an export',
  description:
    'The body is the file of an export, of any content type, up to 2 GiB unless the operator has set another bound. It is checked whole before anything is made: one that was changed, is cut short, holds what no agent has (devices, links and paths that lead outwards, files of other owners) or comes from a newer runtime is a 400. Then an agent is created of its settings, with the files in place before its first turn, and its machine is booted. Its schedules are disabled. `import.missing` names what is to be given anew.\n\nThe reply comes as that of a create: 201 when the agent runs, 202 with the agent in `provisioning` when that takes longer, or with `Prefer: respond-async` or `?wait=false`.',
  headers: ImportHeaders,
  querystring: ImportQuery,
  response: {
    201: { ...ImportedAgent, 'x-response-description': 'The agent runs.', headers },
    202: { ...ImportedAgent, 'x-response-description': 'The agent is in `provisioning`.', headers },
  },
};
const config = {
  rate: 'creates',
  scopes: ['agents:write'],
  bytes: true,
  errors: [
    'invalid_request',
    'quota_exceeded',
    'provisioning_failed',
    'insufficient_capacity',
    'request_too_large',
    'unsupported_media_type',
  ],
} as const;

interface Needs extends AgentReplies, Waiting, Pick<GuestAccess, 'cut'> {
  readonly portable: Portable;
  /** How long a create waits for the agent to run before it answers 202. */
  readonly createWaitMs: number;
}

/** `POST /v1/agents/import`, in a separate scope, in which a body of any type is an unread stream. */
export function importAgentRoute(app: App, needs: Needs): void {
  app.register(async (scope: App) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, body, done) => done(null, body));
    scope.route({
      method: 'POST',
      url: '/v1/agents/import',
      bodyLimit: Number.MAX_SAFE_INTEGER,
      schema,
      config,
      handler: (request, reply) => imported(needs, request, reply),
    });
  });
}

async function imported(needs: Needs, request: FastifyRequest, reply: FastifyReply) {
  const { agents, portable, createWaitMs, closing, cut } = needs;
  const { accountId } = request.principal;
  const received = await receive(portable, request, replySignal(reply, cut)).catch((error: unknown) => {
    if (!request.raw.complete) reply.header('connection', 'close');
    request.raw.resume();
    throw error;
  });
  const created = await createOnce(needs, request, received);
  request.scope.fields.agent_id = created.id;
  reply.header('location', agentPath(created.id));
  const record = (row: AgentRow): ImportedAgent => ({
    ...agentReply(reply, row, needs),
    import: { missing: [...received.missing] },
  });
  if (wantsNoWait(request, reply)) return reply.code(202).send(record(created));
  const signal = AbortSignal.any([clientGone(reply), closing]);
  const row = await agents.awaitStatus(accountId, created.id, createWaitMs, signal);
  checkOutcome(row);
  return reply.code(row.status === 'provisioning' ? 202 : 201).send(record(row));
}

type Received = Awaited<ReturnType<Portable['receive']>>;

async function receive(portable: Portable, request: FastifyRequest, signal: AbortSignal): Promise<Received> {
  const { headers: given, raw, body } = request;
  const { 'content-encoding': encoding = 'identity', 'x-passphrase': passphrase } = given;
  if (encoding !== 'identity') {
    throw new Refusal('unsupported_media_type', 'Send the body without a Content-Encoding.');
  }
  portable.checkLength(Number(given['content-length'] ?? 0));
  extendBody(raw, transferMs);
  // A refused body is not the end of its connection, on which the client reads why.
  const bytes = (body instanceof Readable ? body : Readable.from([])).iterator({ destroyOnReturn: false });
  const { name } = request.query as ImportQuery;
  return portable.receive(request.principal.accountId, bytes, {
    passphrase: typeof passphrase === 'string' ? passphrase : null,
    check: (manifest) => settingsOf(manifest, name?.trim()),
    signal,
  });
}

/** The agent's id is decided first: a second attempt of an idempotent request finds the first one's agent. */
async function createOnce({ agents, portable }: Needs, request: FastifyRequest, received: Received): Promise<AgentRow> {
  const { principal, idempotent } = request;
  const { accountId } = principal;
  let isTaken = false;
  try {
    if (idempotent?.effective) return await agents.get(accountId, idempotent.agentId);
    const id = idempotent?.agentId ?? makeAgentId(randomInt);
    const note = changeNote(request, { type: 'agent.created', data: { name: received.settings.agent.name } });
    const made = await portable.create(accountId, received, { id, note });
    isTaken = true;
    return made;
  } finally {
    if (!isTaken) await portable.drop(received);
  }
}
