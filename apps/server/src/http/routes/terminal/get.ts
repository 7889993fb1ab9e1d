import { Refusal } from '@lodge/domain';
import { AgentParams, TerminalQuery } from '@lodge/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { WebSocketServer } from 'ws';
import { checkAgentId } from '../../reply/agent-record.ts';
import type { App } from '../../app-types.ts';
import type { GuestAccess } from '../../needs.ts';
import { guestErrors, ofGuest } from '../../guest/guest-error.ts';
import { TerminalBridge, terminalProtocol } from '../../guest/terminal-bridge.ts';
import { countRoot, recordRoot, type RootActs } from '../../guest/root.ts';
import { accept, checkedHandshake, endReply, socketsOf } from '../../guest/web-socket.ts';
import type { Endings } from '../../identity/ended.ts';

const defaultIdleMs = 60 * 60_000;
/** A longer message is neither typing nor pasting. */
const maxMessageBytes = 256 * 1024;

const schema = {
  operationId: 'openAgentTerminal',
  tags: ['Shell'],
  summary: "Open a terminal on an agent's machine",
  description:
    'A WebSocket with a login shell in its workspace, of the agent’s own user or of `root` of its machine. Binary messages are what is typed and what is shown. Text messages are JSON: `{"type":"resize","cols":120,"rows":40}` from the client; `{"type":"exit","exit_code":0,"signal":null}` from the service, before it closes with 1000. Where no header can be set (a browser), offer the subprotocols `lodge.terminal` and `bearer.<API key>`; a page of the service itself needs no key where somebody is signed in. The agent stays awake while its terminal is open. One with which nobody types for an hour is closed, with 1000, and one whose API key or session has ended, with 1008. It ends with its connection, with all that runs in it. Everything is checked before the 101; a request that is no WebSocket is a 400.',
  params: AgentParams,
  querystring: TerminalQuery,
  response: {
    101: { description: 'The terminal is open.', type: 'null' },
  },
};
const config = {
  rate: 'calls',
  scopes: ['agents:write'],
  errors: guestErrors,
} as const;

interface Needs extends GuestAccess, RootActs {
  readonly endings: Endings;
  readonly closing: AbortSignal;
  /** A terminal whose client types nothing for so long is closed; an hour by default. */
  readonly terminalIdleMs?: number;
}

export function terminalRoute(app: App, context: Needs): void {
  const sockets = socketsOf(terminalProtocol, maxMessageBytes);
  app.route({
    method: 'GET',
    url: '/v1/agents/:id/terminal',
    exposeHeadRoute: false,
    schema,
    config,
    handler: (request, reply) => open(context, sockets, request, reply),
  });
}

async function open(context: Needs, sockets: WebSocketServer, request: FastifyRequest, reply: FastifyReply) {
  const { agents, guestAt, lifecycleWaitMs } = context;
  const { id } = request.params as { readonly id: string };
  const { accountId } = request.principal;
  checkAgentId(id);
  await agents.get(accountId, id);
  const connection = checkedHandshake(request);
  const { cols = 80, rows = 24, term = 'xterm-256color', user = 'agent', wake } = request.query as TerminalQuery;
  if (user === 'root') await countRoot(context, request, reply);
  const over = new AbortController();
  const gone = (): void => over.abort(new Refusal('agent_unavailable', 'The client went away.'));
  connection.once('close', gone);
  const { signal } = over;
  const live = await agents.use(accountId, id, { wake: wake === 'true', timeoutMs: lifecycleWaitMs, signal });
  const bridge = new TerminalBridge({
    idleMs: context.terminalIdleMs ?? defaultIdleMs,
    closing: context.closing,
    ended: context.endings.of(request, reply),
  });
  try {
    if (user === 'root') await recordRoot(context, request, 'terminal');
    await ofGuest(bridge.connect(guestAt(live.guest), { columns: cols, rows, term, user }, signal));
    const socket = await accept(sockets, request, reply);
    bridge.run(socket, () => {
      live.release();
      endReply(reply);
    });
  } catch (error) {
    bridge.close();
    live.release();
    throw error;
  }
}
