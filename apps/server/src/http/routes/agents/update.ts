import { Agent, AgentParams, IfMatchHeaders, UpdateAgent } from '@lodge/contract';
import { defaultLifecycle, defaultSize } from '@lodge/domain';
import type { Lifecycle } from '@lodge/domain';
import type { UpdateAgentInput } from '@lodge/engine';
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
import { agentHeaders, agentReply, checkAgentId } from '../../reply/agent-record.ts';
import { changeNote } from '../../identity/change-note.ts';
import type { App } from '../../app-types.ts';
import type { AgentReplies, Waiting } from '../../needs.ts';
import { checkIfMatch } from '../../reply/etag.ts';
import { afterEffect } from './wait.ts';
import { fromWire } from '../../reply/to-wire.ts';
import { spendLimitOf } from '../../reply/spend-limit.ts';

const schema = {
  operationId: 'updateAgent',
  tags: ['Agents'],
  summary: 'Change an agent',
  description:
    'Only what is given changes; null resets a field to its default. Model, keys and lifecycle are in effect at once, without a restart; so are instructions, egress and variables, for which the reply waits a bounded time: `settings_pending` says whether they are. Packages are installed behind the reply. Connections that new egress rules do not allow end. A size that the running machine cannot take is taken with the next start: until then `machine` differs from `size`.',
  params: AgentParams,
  headers: IfMatchHeaders,
  body: UpdateAgent,
  response: { 200: { ...Agent, 'x-response-description': 'The agent as it is now.', headers: agentHeaders } },
};
const config = {
  scopes: ['agents:write'],
  errors: ['agent_not_found', 'agent_transitioning', 'precondition_failed', 'insufficient_capacity'],
} as const;

export function updateAgentRoute(app: App, context: AgentReplies & Waiting): void {
  const { agents } = context;
  app.route({
    method: 'PATCH',
    url: '/v1/agents/:id',
    schema,
    config,
    preValidation: trimName,
    handler: async (request, reply) => {
      const { id } = request.params;
      const { body } = request;
      const change = changeOf(body);
      checkAgentId(id);
      const row = await agents.update(request.principal.accountId, id, change, {
        check: (present) => checkIfMatch(request.headers['if-match'], present),
        note: changeNote(request, { type: 'agent.updated', data: { fields: Object.keys(body) } }),
      });
      const { instructions, dashboard, browser, egress, env } = body;
      const inMachine = [instructions, dashboard, browser, egress, env].some((field) => field !== undefined);
      return agentReply(reply, inMachine ? await afterEffect(context, reply, row) : row, context);
    },
  });
}

/** A PATCH in the form of the use-cases. */
export function changeOf(body: UpdateAgent): UpdateAgentInput {
  const { machine_size: _, lifecycle, llm_keys: keys, ...given } = body;
  const size = sizeOf(body);
  return {
    ...fromWire(given),
    llmKeys: keys && keys.map((key) => ({ provider: key.provider, apiKey: key.api_key })),
    size: size === null ? defaultSize : size,
    lifecycle: lifecycle === undefined ? undefined : lifecycleChange(lifecycle),
    instructions: instructionsOf(body),
    dashboard: body.dashboard === null ? false : body.dashboard,
    browser: body.browser === null ? false : body.browser,
    spendLimit: body.spend_limit === undefined ? undefined : spendLimitOf(body.spend_limit),
    egress: body.egress === undefined ? undefined : egressOf(body.egress),
    env: body.env === undefined ? undefined : variablesOf(body.env),
    packages: body.packages === undefined ? undefined : packagesOf(body.packages),
    confirmations: body.confirmations === undefined ? undefined : confirmationsOf(body.confirmations),
    peers: body.peers === null ? [] : body.peers,
    snapshots: body.snapshots === undefined ? undefined : snapshotsOf(body.snapshots),
  };
}

function lifecycleChange(given: UpdateAgent['lifecycle']): Partial<Lifecycle> {
  if (given == null) return defaultLifecycle;
  const changed = Object.entries(fromWire(given)).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    changed.map(([field, value]) => [field, value ?? defaultLifecycle[field as keyof Lifecycle]]),
  );
}
