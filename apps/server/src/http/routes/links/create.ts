import { abilitiesOf, Refusal } from '@lodge/domain';
import { AgentParams, CreateLink, Link } from '@lodge/contract';
import { notPublished } from '@lodge/engine';
import type { AgentVisits, PublishedPorts } from '@lodge/engine';
import type { AgentRow } from '@lodge/store/agents';
import { checkAgentId } from '../../reply/agent-record.ts';
import { originOf, viewPort } from '../../agent-urls/address.ts';
import { linkTo } from '../../agent-urls/link.ts';
import { isDashboard } from '../../agent-urls/server-of.ts';
import { actorNote } from '../../identity/change-note.ts';
import type { App } from '../../app-types.ts';
import type { AgentReplies } from '../../needs.ts';

const defaultLinkSeconds = 300;
const defaultVisitSeconds = 8 * 3600;

const schema = {
  operationId: 'createAgentLink',
  tags: ['Addresses'],
  summary: 'Make a link to an agent for a browser',
  description:
    "An agent's own address (`url`, `dashboard_url`, published ports, the view of its browser) takes an API key with the scope `agents:write` in its usual header; a browser opens it by a link. The link works once, within minutes, and gives that browser a cookie for that one page of that one agent. The cookie ends after `visit_seconds`, and with the agent, the API key or session that made the link, and the account's password. The agent need not run; it is resumed when the page is looked at.\n\nThe reply is not kept for an Idempotency-Key: it holds a secret.",
  params: AgentParams,
  body: CreateLink,
  response: { 201: { ...Link, 'x-response-description': 'The link.' } },
};

interface Needs extends AgentReplies {
  readonly ports: PublishedPorts;
  readonly visits: AgentVisits;
}

/** `POST /v1/agents/:id/links`. */
export function createLinkRoute(app: App, context: Needs): void {
  const { agents, visits, agentUrl } = context;
  app.route({
    method: 'POST',
    url: '/v1/agents/:id/links',
    schema,
    config: { scopes: ['agents:write'], errors: ['agent_not_found', 'port_not_found'], secretReply: true },
    handler: async (request, reply) => {
      const { id } = request.params;
      checkAgentId(id);
      const { accountId, by } = request.principal;
      const { page = 'gateway', path = '/', expires_in_seconds, visit_seconds } = request.body;
      const row = await agents.get(accountId, id);
      const port = await portOf(context, row, request.body);
      const linkSeconds = expires_in_seconds ?? defaultLinkSeconds;
      const visitSeconds = visit_seconds ?? defaultVisitSeconds;
      const link = { accountId, by, agentId: id, page, port, path, linkSeconds, visitSeconds };
      const made = await visits.createLink(link, actorNote(request));
      const origin = originOf({ kind: row.runtimeKind, id, port }, agentUrl);
      return reply
        .code(201)
        .send({ object: 'link' as const, url: linkTo(origin, made.token), expires_at: made.expiresAt.toISOString() });
    },
  });
}

/** The port of the page that is asked for; null for the gateway. */
async function portOf({ ports }: Needs, row: AgentRow, { page = 'gateway', port }: CreateLink) {
  if (page === 'dashboard') {
    const { dashboardPort } = abilitiesOf(row.runtimeKind);
    if (dashboardPort !== null && row.dashboard) return dashboardPort;
    throw new Refusal('invalid_request', 'page: this agent has no dashboard.');
  }
  if (page === 'browser') {
    if (row.browser) return viewPort;
    throw new Refusal('invalid_request', 'page: this agent has no browser.');
  }
  if (port == null) return null;
  if (isDashboard({ kind: row.runtimeKind, port }) || (await ports.find(row.id, port)) === null)
    throw notPublished(port);
  return port;
}
