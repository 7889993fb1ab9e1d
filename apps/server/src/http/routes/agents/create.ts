import { randomInt } from 'node:crypto';
import { Agent, CreateAgent, PreferHeaders, WaitQuery } from '@lodge/contract';
import { defaultLifecycle, defaultSize, makeAgentId, runtimeKindAliases } from '@lodge/domain';
import type { Lifecycle } from '@lodge/domain';
import type { CreateAgentInput } from '@lodge/engine';
import type { AgentRow } from '@lodge/engine/ports';
import type { FastifyRequest } from 'fastify';
import { checkAvailable, instructionsOf, sizeOf, trimName } from '../../agent-fields.ts';
import { agentHeaders, agentPath, agentReply } from '../../agent-record.ts';
import { changeNote } from '../../change-note.ts';
import { clientGone } from '../../client-gone.ts';
import type { App, HttpContext } from '../../context.ts';
import { ApiError } from '../../errors.ts';
import { wantsNoWait } from '../../no-wait.ts';
import { spendLimitOf } from '../../spend-limit.ts';

const headers = { ...agentHeaders, Location: { type: 'string', description: 'Path of the agent.' } };

const schema = {
  operationId: 'createAgent',
  tags: ['Agents'],
  summary: 'Create an agent',
  description:
    'Provisioning starts at once, and the reply comes when the agent runs. When that takes longer than the create wait (60 s unless set otherwise), or with `Prefer: respond-async` or `?wait=false`, it is 202 with the agent in `provisioning`: poll the agent then.',
  headers: PreferHeaders,
  querystring: WaitQuery,
  body: CreateAgent,
  response: {
    201: { ...Agent, 'x-response-description': 'The agent runs.', headers },
    202: { ...Agent, 'x-response-description': 'The agent is in `provisioning`.', headers },
  },
};

const config = {
  rate: 'creates',
  scopes: ['agents:write'],
  errors: ['quota_exceeded', 'provisioning_failed', 'insufficient_capacity'],
} as const;

export function createAgentRoute(app: App, context: HttpContext): void {
  const { agents, createWaitMs, closing } = context;
  app.route({
    method: 'POST',
    url: '/v1/agents',
    schema,
    config,
    preValidation: trimName,
    handler: async (request, reply) => {
      const { accountId } = request.principal;
      const created = await createOnce(context, request, inputOf(request.body));
      request.scope.fields.agent_id = created.id;
      reply.header('location', agentPath(created.id));
      if (wantsNoWait(request, reply)) return reply.code(202).send(agentReply(reply, created, context));
      const signal = AbortSignal.any([clientGone(reply), closing]);
      const row = await agents.awaitSettled(accountId, created.id, createWaitMs, signal);
      checkOutcome(row);
      return reply.code(row.status === 'provisioning' ? 202 : 201).send(agentReply(reply, row, context));
    },
  });
}

/** The agent's id is decided before: a second attempt of an idempotent request finds what the first has made. */
function createOnce({ agents }: HttpContext, request: FastifyRequest, input: CreateAgentInput): Promise<AgentRow> {
  const { principal, idempotent } = request;
  if (idempotent?.effective) return agents.get(principal.accountId, idempotent.agentId);
  const id = idempotent?.agentId ?? makeAgentId(randomInt);
  const note = changeNote(request, 'agent.created', id, { name: input.name });
  return agents.create(principal.accountId, input, { id, note });
}

function checkOutcome(row: AgentRow | null): asserts row is AgentRow {
  if (row === null) throw new ApiError('agent_not_found', 'The agent was deleted while it was being provisioned.');
  if (row.status !== 'error') return;
  throw new ApiError('provisioning_failed', `The agent did not start. ${row.statusReason?.message ?? ''}`.trim(), {
    headers: { 'x-agent-id': row.id },
  });
}

function inputOf(body: CreateAgent): CreateAgentInput {
  checkAvailable(body, runtimeKindAliases[body.runtime_kind ?? 'runtime_a']);
  return {
    name: body.name,
    ...(body.model !== undefined && { model: body.model }),
    description: body.description ?? null,
    llmKeys: (body.llm_keys ?? []).map((key) => ({ provider: key.provider, apiKey: key.api_key })),
    checkKeys: body.check_keys ?? false,
    runtimeKind: runtimeKindAliases[body.runtime_kind ?? 'runtime_a']!,
    size: sizeOf(body) ?? defaultSize,
    lifecycle: lifecycleOf(body.lifecycle ?? {}),
    metadata: body.metadata ?? {},
    instructions: instructionsOf(body) ?? null,
    dashboard: body.dashboard ?? false,
    spendLimit: spendLimitOf(body.spend_limit ?? null),
  };
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
