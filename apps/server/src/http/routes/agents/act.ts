import { verbs } from '@lodge/domain';
import type { ErrorCode, Verb } from '@lodge/domain';
import { Agent, AgentParams, NoBody, PreferHeaders, WaitQuery } from '@lodge/contract';
import { agentHeaders, agentReply, checkAgentId } from '../../reply/agent-record.ts';
import { changeNote } from '../../identity/change-note.ts';
import { clientGone } from '../../pipeline/client-gone.ts';
import type { App } from '../../app-types.ts';
import type { AgentReplies, Waiting } from '../../needs.ts';
import { wantsNoWait } from './wait.ts';

interface VerbText {
  readonly summary: string;
  readonly description: string;
  /** Refusals beside those of every verb. */
  readonly errors: readonly ErrorCode[];
}

const texts: Readonly<Record<Verb, VerbText>> = {
  start: {
    summary: 'Start an agent',
    description:
      'A paused agent goes on, a stopped one comes back from its snapshot, one in `error` is booted from its disk. Nothing to do when it runs.',
    errors: ['quota_exceeded', 'insufficient_capacity'],
  },
  resume: {
    summary: 'Resume an agent',
    description:
      'As start, but not from `error`. The memory of its size must be free to be promised; agents that were paused longer are stopped for it.',
    errors: ['agent_not_resumable', 'quota_exceeded', 'insufficient_capacity'],
  },
  pause: {
    summary: 'Pause an agent',
    description:
      "The machine's CPUs are frozen; its memory stays. Nothing to do when it is paused. While it is paused the deployment counts only the memory that it holds, and it needs room again to go on. A paused agent resumes by itself with the next request that needs it, unless `lifecycle.auto_resume` is false.",
    errors: ['agent_not_running'],
  },
  stop: {
    summary: 'Stop an agent',
    description:
      'The turn in hand ends (within a bound), memory and disk are saved, and the machine is given up. Nothing to do when it is stopped. An agent whose snapshot fails goes on running. From `error` it goes to `stopped` with its disk alone.',
    errors: ['insufficient_capacity'],
  },
  restart: {
    summary: 'Restart an agent',
    description:
      'The machine is ended in good order and booted from its disk. A stopped agent is started, not restarted.',
    errors: ['agent_not_running', 'quota_exceeded', 'insufficient_capacity'],
  },
  upgrade: {
    summary: 'Move an agent to the newest image',
    description:
      'The agent is stopped, its machine is kept aside as it is, and another is made from the newest image with the files of its home and workspace. When that one runs and its gateway answers, the old one is freed; when it does not, the old one comes back by itself, with its memory, and the reply is a 500 that says why. The host needs room for both disks meanwhile. Nothing to do when the agent is on the newest image already (`upgrade_available` is false). A stopped agent is started first.',
    errors: ['agent_not_running', 'quota_exceeded', 'insufficient_capacity'],
  },
};

/** The event says who requested the verb; the agent's log has its outcome. */
const requested = {
  start: 'agent.start_requested',
  resume: 'agent.resume_requested',
  pause: 'agent.pause_requested',
  stop: 'agent.stop_requested',
  restart: 'agent.restart_requested',
  upgrade: 'agent.upgrade_requested',
} as const satisfies Readonly<Record<Verb, string>>;

const shared =
  'The reply comes when that is done: 200. When it takes longer than the lifecycle wait (60 s unless set otherwise), or with `Prefer: respond-async` or `?wait=false`, it is 202 with the record as it is, its `transition` set: poll the agent then. The same request again joins what is under way.';

/** `POST /v1/agents/:id/<verb>`, one route for each verb of the lifecycle table. */
export function actRoutes(app: App, context: AgentReplies & Waiting): void {
  for (const verb of verbs) actRoute(app, context, verb);
}

function actRoute(app: App, context: AgentReplies & Waiting, verb: Verb): void {
  const { agents, lifecycleWaitMs, closing } = context;
  const { summary, description, errors } = texts[verb];
  app.route({
    method: 'POST',
    url: `/v1/agents/:id/${verb}`,
    schema: {
      operationId: `${verb}Agent`,
      tags: ['Agents'],
      summary,
      description: `${description}\n\n${shared}`,
      params: AgentParams,
      headers: PreferHeaders,
      querystring: WaitQuery,
      body: NoBody,
      response: {
        200: { ...Agent, 'x-response-description': 'It is done.', headers: agentHeaders },
        202: { ...Agent, 'x-response-description': 'It is under way.', headers: agentHeaders },
      },
    },
    config: { scopes: ['agents:write'], errors: ['agent_not_found', 'agent_transitioning', ...errors] },
    handler: async (request, reply) => {
      const { id } = request.params;
      checkAgentId(id);
      const { accountId } = request.principal;
      // The first attempt began it, and was killed before it could answer.
      const isRepeated = request.idempotent?.effective === true;
      const { row: begun, done } = isRepeated
        ? { row: await agents.get(accountId, id), done: false }
        : await agents.act(accountId, id, verb, changeNote(request, { type: requested[verb], data: {} }));
      if (done) return agentReply(reply, begun, context);
      if (wantsNoWait(request, reply)) return reply.code(202).send(agentReply(reply, begun, context));
      const signal = AbortSignal.any([clientGone(reply), closing]);
      const row = await agents.awaitVerb(accountId, id, verb, lifecycleWaitMs, signal);
      const underWay = row.operation !== null || row.status === 'provisioning';
      return reply.code(underWay ? 202 : 200).send(agentReply(reply, row, context));
    },
  });
}
