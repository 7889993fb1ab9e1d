import type { RuntimeKind } from '@lodge/domain';
import { Refusal, defaultLifecycle, makeAgentId, runtimeKindAliases } from '@lodge/domain';
import { randomInt } from 'node:crypto';
import { Agent, CreateAgent, CreateAgentQuery, PreferHeaders } from '@lodge/contract';
import type { CreateAgentInput } from '@lodge/engine';
import type { AgentRow } from '@lodge/store/agents';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { channelInputs } from '../channels/input.ts';
import type { ChannelNeeds } from '../channels/shared.ts';
import {
  confirmationsOf,
  egressOf,
  instructionsOf,
  packagesOf,
  sizeOf,
  snapshotsOf,
  trimName,
  variablesOf,
} from './fields.ts';
import { agentHeaders, agentPath, agentReply } from '../../reply/agent-record.ts';
import { changeNote } from '../../identity/change-note.ts';
import { clientGone } from '../../pipeline/client-gone.ts';
import type { App } from '../../app-types.ts';
import type { AgentReplies, Waiting } from '../../needs.ts';
import { wantsNoWait } from './wait.ts';
import { fromWire } from '../../reply/to-wire.ts';
import { spendLimitOf } from '../../reply/spend-limit.ts';

const headers = { ...agentHeaders, Location: { type: 'string', description: 'Path of the agent.' } };

const schema = {
  operationId: 'createAgent',
  tags: ['Agents'],
  summary: 'Create an agent',
  description:
    'Provisioning starts at once, and the reply comes when the agent runs. When that takes longer than the create wait (60 s unless set otherwise), or with `Prefer: respond-async` or `?wait=false`, it is 202 with the agent in `provisioning`: poll the agent then.',
  headers: PreferHeaders,
  querystring: CreateAgentQuery,
  body: CreateAgent,
  response: {
    201: { ...Agent, 'x-response-description': 'The agent runs.', headers },
    202: { ...Agent, 'x-response-description': 'The agent is in `provisioning`.', headers },
  },
};

const config = {
  rate: 'creates',
  scopes: ['agents:write'],
  errors: [
    'channel_conflict',
    'snapshot_not_found',
    'snapshot_not_ready',
    'snapshot_damaged',
    'quota_exceeded',
    'provisioning_failed',
    'insufficient_capacity',
  ],
} as const;

interface Needs extends AgentReplies, Waiting, ChannelNeeds {
  /** How long a create waits for the agent to run before it answers 202. */
  readonly createWaitMs: number;
}

export function createAgentRoute(app: App, context: Needs): void {
  const { agents, createWaitMs, closing } = context;
  app.route({
    method: 'POST',
    url: '/v1/agents',
    schema,
    config,
    preValidation: trimName,
    handler: async (request, reply) => {
      const { accountId } = request.principal;
      const created = await createOnce(context, request, request.body, reply);
      request.scope.fields.agent_id = created.id;
      reply.header('location', agentPath(created.id));
      if (wantsNoWait(request, reply)) return reply.code(202).send(agentReply(reply, created, context));
      const signal = AbortSignal.any([clientGone(reply), closing]);
      const row = await agents.awaitStatus(accountId, created.id, createWaitMs, signal);
      checkOutcome(row);
      return reply.code(row.status === 'provisioning' ? 202 : 201).send(agentReply(reply, row, context));
    },
  });
}

/** The agent's id is decided first: a second attempt of an idempotent request finds the first one's agent. */
async function createOnce(
  { agents, channels }: Needs,
  request: FastifyRequest,
  body: CreateAgent,
  reply: FastifyReply,
): Promise<AgentRow> {
  const { principal, idempotent } = request;
  const input = inputOf(body);
  if (idempotent?.effective) return agents.get(principal.accountId, idempotent.agentId);
  const id = idempotent?.agentId ?? makeAgentId(randomInt);
  const note = changeNote(request, { type: 'agent.created', data: { name: input.name } });
  const { verify } = request.query as { readonly verify?: string };
  // Channels are checked before anything is written; the create itself checks the rest, and writes them with the agent.
  const inputs = channelInputs(body.channels);
  const options = { verify: verify !== 'false', signal: clientGone(reply) };
  const checked = inputs.length === 0 ? [] : await channels.check(inputs, options);
  return agents.create(principal.accountId, { ...input, channels: checked }, { id, note });
}

export function checkOutcome(row: AgentRow | null): asserts row is AgentRow {
  if (row === null) throw new Refusal('agent_not_found', 'The agent was deleted while it was being provisioned.');
  if (row.status !== 'error') return;
  throw new Refusal('provisioning_failed', `The agent did not start. ${row.statusReason?.message ?? ''}`.trim(), {
    agentId: row.id,
  });
}

export function inputOf(body: CreateAgent): CreateAgentInput {
  const { machine_size: _, channels: __, from: ___, llm_keys: keys = [], ...given } = body;
  return {
    ...fromWire(given),
    llmKeys: keys.map((key) => ({ provider: key.provider, apiKey: key.api_key })),
    from: body.from && { snapshot: body.from.snapshot, withBrowser: body.from.include?.includes('browser') ?? false },
    runtimeKind: kindOf(body),
    size: sizeOf(body),
    lifecycle: { ...defaultLifecycle, ...fromWire(body.lifecycle ?? {}) },
    metadata: body.metadata ?? {},
    instructions: instructionsOf(body),
    spendLimit: spendLimitOf(body.spend_limit ?? null),
    egress: egressOf(body.egress),
    env: variablesOf(body.env),
    packages: packagesOf(body.packages),
    confirmations: confirmationsOf(body.confirmations ?? null),
    peers: body.peers ?? [],
    snapshots: snapshotsOf(body.snapshots),
  };
}

const kindOf = ({ runtime_kind: name }: CreateAgent): RuntimeKind | undefined =>
  name === undefined ? undefined : runtimeKindAliases[name]!;
