import { Places, Refusal } from '@lodge/domain';
import { PortParams, TunnelQuery } from '@lodge/contract';
import type { LiveAgent } from '@lodge/engine';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { WebSocketServer } from 'ws';
import type { App } from '../../app-types.ts';
import { guestErrors } from '../../guest/guest-error.ts';
import { TunnelBridge, tunnelProtocol } from '../../guest/tunnel-bridge.ts';
import { accept, checkedHandshake, endReply, socketsOf } from '../../guest/web-socket.ts';
import type { Endings } from '../../identity/ended.ts';
import type { GuestAccess } from '../../needs.ts';
import { checkAgentId } from '../../reply/agent-record.ts';
import { checkPort } from './allowed.ts';

const defaultIdleMs = 60 * 60_000;
const maxMessageBytes = 1024 * 1024;
/** How often it is checked whether the agent's machine is still the same. */
const lookEveryMs = 30_000;
/** Most tunnels of an agent at once. */
const perAgent = 128;

const schema = {
  operationId: 'openAgentPortTunnel',
  tags: ['Addresses'],
  summary: "Open a connection to a port of an agent's machine",
  description:
    'A WebSocket that carries one TCP connection, of any protocol, to a port that need not be published. The server in the machine must listen on the machine\'s address (0.0.0.0), not on loopback alone. Binary messages of up to 1 MiB are the bytes, both ways. The text message `{"type":"end"}` says that its sender sends no more, as TCP\'s FIN; when both have, the service closes with 1000. Where no header can be set (a browser), offer the subprotocols `lodge.tunnel` and `bearer.<API key>`. The agent stays awake while it is open. One through which nothing goes for an hour is closed, with 1000, and one whose API key or session has ended, with 1008. The ports of the agent\'s own gateway, its dashboard and the service\'s daemon are refused. Everything is checked before the 101, also that something listens there; a request that is no WebSocket is a 400.',
  params: PortParams,
  querystring: TunnelQuery,
  response: { 101: { description: 'The connection is open.', type: 'null' } },
};
const config = { rate: 'calls', scopes: ['agents:write'], errors: guestErrors } as const;

interface Needs extends GuestAccess {
  readonly endings: Endings;
  readonly closing: AbortSignal;
  /** As for terminals: an hour by default. */
  readonly terminalIdleMs?: number;
}

interface Opening extends Needs {
  readonly sockets: WebSocketServer;
  readonly places: Places;
}

export function tunnelRoute(app: App, context: Needs): void {
  const sockets = socketsOf(tunnelProtocol, maxMessageBytes);
  const places = new Places({ perName: perAgent });
  app.route({
    method: 'GET',
    url: '/v1/agents/:id/ports/:port/tunnel',
    exposeHeadRoute: false,
    schema,
    config,
    handler: (request, reply) => open({ ...context, sockets, places }, request, reply),
  });
}

async function open(context: Opening, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { agents, places } = context;
  const { id, port: given } = request.params as { readonly id: string; readonly port: string };
  checkAgentId(id);
  const row = await agents.get(request.principal.accountId, id);
  const port = /^[1-9]\d{0,4}$/.test(given) ? Number(given) : 0;
  if (port < 1 || port > 65_535) throw new Refusal('invalid_request', 'port must be a whole number, 1 to 65535.');
  checkPort(agents, row, port);
  checkedHandshake(request);
  if (!places.take(id)) throw new Refusal('agent_unavailable', `An agent may have ${perAgent} tunnels at once.`);
  try {
    await serve(context, request, reply, { id, port });
  } catch (error) {
    places.giveBack(id);
    throw error;
  }
}

/** Gives the place back itself once the tunnel is open. */
async function serve(
  context: Opening,
  request: FastifyRequest,
  reply: FastifyReply,
  { id, port }: { readonly id: string; readonly port: number },
): Promise<void> {
  const {
    agents,
    lifecycleWaitMs,
    closing,
    endings,
    sockets,
    places,
    terminalIdleMs: idleMs = defaultIdleMs,
  } = context;
  const over = new AbortController();
  const gone = (): void => over.abort(new Refusal('agent_unavailable', 'The client went away.'));
  checkedHandshake(request).once('close', gone);
  const { signal } = over;
  const wake = (request.query as TunnelQuery).wake === 'true';
  const { accountId } = request.principal;
  const live = await agents.use(accountId, id, { wake, timeoutMs: lifecycleWaitMs, signal });
  let bridge: TunnelBridge | null = null;
  try {
    bridge = await TunnelBridge.to(live.guest, port, signal);
    const options = {
      idleMs,
      idleWords: 'nothing went through for too long',
      closing,
      ended: endings.of(request, reply),
    };
    const socket = await accept(sockets, request, reply);
    const looking = watch(context, live, bridge);
    bridge.run(socket, options, () => {
      clearInterval(looking);
      live.release();
      places.giveBack(id);
      endReply(reply);
    });
  } catch (error) {
    bridge?.close();
    live.release();
    throw error;
  }
}

/** Ends a tunnel whose agent was paused, stopped or started anew meanwhile: its connection leads nowhere. */
function watch({ agents }: Opening, { row }: LiveAgent, bridge: TunnelBridge): NodeJS.Timeout {
  const look = async (): Promise<void> => {
    const now = await agents.get(row.accountId, row.id).catch(() => null);
    if (now?.status !== 'running' || now.executionId !== row.executionId) bridge.end('the agent does not run any more');
  };
  return setInterval(() => void look(), lookEveryMs);
}
