import { AgentParams, Browser, TakeBrowserControl } from '@lodge/contract';
import { browserControl } from '@lodge/domain';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../../app-types.ts';
import { browserRecord, browserRefusal, checkHasBrowser } from '../../browser/state.ts';
import { guestErrors } from '../../guest/guest-error.ts';
import { liveGuest } from '../../guest/live-guest.ts';
import { actorNote } from '../../identity/change-note.ts';
import type { GuestAccess } from '../../needs.ts';
import { replySignal } from '../../pipeline/client-gone.ts';
import { checkAgentId } from '../../reply/agent-record.ts';

const controlUrl = '/v1/agents/:id/browser/control';
const timeoutMs = 30_000;
const shared = { tags: ['Browser'], params: AgentParams };
const reply = (meaning: string) => ({ 200: { ...Browser, 'x-response-description': meaning } });

/** `GET /v1/agents/:id/browser`, `POST` and `DELETE` of its control. */
export function browserRoutes(app: App, context: GuestAccess): void {
  readRoute(app, context);
  takeRoute(app, context);
  releaseRoute(app, context);
}

function readRoute(app: App, context: GuestAccess): void {
  app.route({
    method: 'GET',
    url: '/v1/agents/:id/browser',
    schema: {
      ...shared,
      operationId: 'getAgentBrowser',
      summary: 'Read the browser of an agent',
      description: 'Its state, its tabs, and the one who has the control. Nobody is woken, and nothing is started.',
      response: reply('The browser.'),
    },
    config: { scopes: ['agents:read'], errors: ['agent_not_found', 'agent_unavailable'] },
    handler: (request, reply) => present(context, request, reply),
  });
}

function takeRoute(app: App, context: GuestAccess): void {
  app.route({
    method: 'POST',
    url: controlUrl,
    schema: {
      ...shared,
      operationId: 'takeAgentBrowserControl',
      summary: 'Take the control of a browser',
      description:
        'Until it is given back, or for `seconds`, the agent\'s own calls to the browser wait, and its tabs stay as they are. A link with `page: "browser"` opens the view in which a person uses mouse and keyboard. Taken again, the time counts from then on.',
      body: TakeBrowserControl,
      response: reply('The browser, controlled by its owner.'),
    },
    config: { scopes: ['agents:write'], errors: [...guestErrors, 'browser_not_running'] },
    handler: async (request, reply) => {
      const { agents } = context;
      const { id } = request.params;
      const { seconds = browserControl.usual } = request.body;
      checkAgentId(id);
      const { accountId } = request.principal;
      checkHasBrowser(await agents.get(accountId, id));
      const { guest, signal } = await liveGuest(context, request, reply, timeoutMs);
      await held(guest.browser.hold(seconds, { signal }));
      const event = { type: 'browser.control_taken', data: { seconds } } as const;
      await agents.record(accountId, id, event, actorNote(request).by);
      return present(context, request, reply);
    },
  });
}

function releaseRoute(app: App, context: GuestAccess): void {
  app.route({
    method: 'DELETE',
    url: controlUrl,
    schema: {
      ...shared,
      operationId: 'releaseAgentBrowserControl',
      summary: 'Give the control of a browser back',
      description: "The agent's calls go on in the tabs that are there. Nothing happens where nobody holds it.",
      response: reply('The browser, controlled by its agent.'),
    },
    config: { scopes: ['agents:write'], errors: ['agent_not_found', 'agent_unavailable', 'browser_not_running'] },
    handler: async (request, reply) => {
      const { agents, guestAt } = context;
      const before = await present(context, request, reply);
      if (before.controlled_by !== 'owner') return before;
      const { id } = request.params;
      const { accountId } = request.principal;
      const address = agents.guestOf(await agents.get(accountId, id));
      if (address === null) return present(context, request, reply);
      await held(guestAt(address).browser.hold(0));
      const event = { type: 'browser.control_released', data: {} } as const;
      await agents.record(accountId, id, event, actorNote(request).by);
      return present(context, request, reply);
    },
  });
}

async function present(context: GuestAccess, request: FastifyRequest, reply: FastifyReply): Promise<Browser> {
  const { id } = request.params as { readonly id: string };
  checkAgentId(id);
  const row = await context.agents.get(request.principal.accountId, id);
  return browserRecord(context, row, replySignal(reply, context.cut));
}

async function held(answer: Promise<void>): Promise<void> {
  try {
    await answer;
  } catch (error) {
    throw browserRefusal(error);
  }
}
