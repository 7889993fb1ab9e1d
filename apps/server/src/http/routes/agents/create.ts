import { Agent, CreateAgent, NoQuery } from '@lodge/contract';
import { defaultLifecycle, defaultSize, runtimeKindAliases } from '@lodge/domain';
import type { Lifecycle } from '@lodge/domain';
import type { CreateAgentInput } from '@lodge/engine';
import type { AgentRow } from '@lodge/engine/ports';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { agentPath, agentRecord } from '../../agent-record.ts';
import { clientGone } from '../../client-gone.ts';
import type { App, HttpContext } from '../../context.ts';
import { ApiError } from '../../errors.ts';

const headers = { Location: { type: 'string', description: 'Path of the agent.' } };

const schema = {
  operationId: 'createAgent',
  tags: ['Agents'],
  summary: 'Create an agent',
  description:
    'Provisioning starts at once, and the reply comes when the agent runs. When that takes longer than the create wait (60 s unless set otherwise), or with `Prefer: respond-async`, it is 202 with the agent in `provisioning`: poll the agent then.',
  headers: Type.Object({
    prefer: Type.Optional(Type.String({ description: '`respond-async`: do not wait.', examples: ['respond-async'] })),
  }),
  querystring: NoQuery,
  body: CreateAgent,
  response: {
    201: { ...Agent, 'x-response-description': 'The agent runs.', headers },
    202: { ...Agent, 'x-response-description': 'The agent is in `provisioning`.', headers },
  },
};

const config = {
  scopes: ['agents:write'],
  errors: ['quota_exceeded', 'provisioning_failed', 'insufficient_capacity'],
} as const;

export function createAgentRoute(app: App, { agents, agentUrl, createWaitMs, closing }: HttpContext): void {
  app.route({
    method: 'POST',
    url: '/v1/agents',
    schema,
    config,
    preValidation: trimName,
    handler: async (request, reply) => {
      const { accountId } = request.principal;
      const created = await agents.create(accountId, inputOf(request.body));
      reply.header('location', agentPath(created.id));
      if (wantsNoWait(request)) {
        reply.header('preference-applied', 'respond-async');
        return reply.code(202).send(agentRecord(created, agents, agentUrl));
      }
      const signal = AbortSignal.any([clientGone(reply), closing]);
      const row = await agents.awaitSettled(accountId, created.id, createWaitMs, signal);
      checkOutcome(row);
      return reply.code(row.status === 'provisioning' ? 202 : 201).send(agentRecord(row, agents, agentUrl));
    },
  });
}

/** The contract's name is 1 to 100 characters after trimming, and what is checked is what is kept. */
async function trimName(request: FastifyRequest): Promise<void> {
  const body = request.body as { name?: unknown } | null | undefined;
  if (typeof body?.name === 'string') body.name = body.name.trim();
}

/** RFC 7240. */
const wantsNoWait = ({ headers }: FastifyRequest): boolean =>
  /(?:^|,)\s*respond-async\s*(?:[,;]|$)/i.test([headers['prefer'] ?? ''].flat().join());

function checkOutcome(row: AgentRow | null): asserts row is AgentRow {
  if (row === null) throw new ApiError('agent_not_found', 'The agent was deleted while it was being provisioned.');
  if (row.status !== 'error') return;
  throw new ApiError('provisioning_failed', `The agent did not start. ${row.statusReason?.message ?? ''}`.trim(), {
    headers: { 'x-agent-id': row.id },
  });
}

function inputOf(body: CreateAgent): CreateAgentInput {
  checkAvailable(body);
  const { size = body.machine_size ?? defaultSize } = body;
  if (body.machine_size !== undefined && body.machine_size !== size) {
    throw new ApiError('invalid_request', 'size and machine_size are two names of one field, and they differ.');
  }
  return {
    name: body.name,
    ...(body.model !== undefined && { model: body.model }),
    description: body.description ?? null,
    llmKeys: (body.llm_keys ?? []).map((key) => ({ provider: key.provider, apiKey: key.api_key })),
    runtimeKind: runtimeKindAliases[body.runtime_kind ?? 'runtime_a']!,
    size,
    lifecycle: lifecycleOf(body.lifecycle ?? {}),
    metadata: body.metadata ?? {},
  };
}

/** Fields of the contract that this version does not serve are refused: dropping them in silence would be a lie. */
function checkAvailable({
  channels,
  spend_limit,
  instructions,
  dashboard,
  runtime_kind = 'runtime_a',
}: CreateAgent): void {
  if (dashboard && runtimeKindAliases[runtime_kind] === 'runtime_a') {
    throw new ApiError('invalid_request', 'dashboard can be true for runtime_b only.');
  }
  const given = {
    channels: Object.keys(channels ?? {}).length > 0,
    spend_limit: spend_limit != null,
    instructions: instructions != null,
    dashboard: dashboard === true,
  };
  for (const [field, isGiven] of Object.entries(given)) {
    if (isGiven) throw new ApiError('invalid_request', `${field} is not available in this version yet.`);
  }
}

function lifecycleOf(given: NonNullable<CreateAgent['lifecycle']>): Lifecycle {
  return {
    idleTimeoutSeconds: given.idle_timeout_seconds ?? defaultLifecycle.idleTimeoutSeconds,
    stopAfterSeconds: given.stop_after_seconds ?? defaultLifecycle.stopAfterSeconds,
    keepAwake: given.keep_awake ?? defaultLifecycle.keepAwake,
    autoResume: given.auto_resume ?? defaultLifecycle.autoResume,
    autoStart: given.auto_start ?? defaultLifecycle.autoStart,
    wakeOnMessage: given.wake_on_message ?? defaultLifecycle.wakeOnMessage,
  };
}
