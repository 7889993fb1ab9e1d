/**
 * Agents' own addresses, on the API's listener. The Host header alone decides whether a request is the API's or an agent's,
 * before any router sees it: nothing of the API answers at an agent's address, and no agent at the API's.
 */
import { Refusal, networkOf } from '@lodge/domain';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Agents, LiveAgent } from '@lodge/engine';
import type { GuestClient } from '@lodge/guest';
import type { GuestAddress, Log } from '@lodge/ports';
import proxyAddr from '@fastify/proxy-addr';
import { RequestScope } from '../../request-log.ts';
import type { HttpMetrics, NetworkSettings } from '../context.ts';
import { BrowserView } from '../browser/view/view.ts';
import { makeRequestId } from '../pipeline/request-id.ts';
import { replyOn } from '../listener/upgrade.ts';
import { hostOf, viewPort } from './address.ts';
import type { AddressRequest } from './address.ts';
import { Connections } from './connections.ts';
import { admit, keyHeaders } from './admission.ts';
import type { Admission, Admitting } from './admission.ts';
import { forward, tunnel } from './forward.ts';
import type { Target } from './forward.ts';
import { isOurPath, openLink } from './link.ts';
import { refuse } from './refusal.ts';
import { checkPage, checkView, serverOf } from './server-of.ts';

/** How often open connections are checked: whether they are still allowed, and whether their machine is still the same. */
const lookEveryMs = 30_000;

/** Dependencies of agents' addresses. */
interface Serving extends Admitting {
  readonly agents: Pick<Agents, 'get' | 'use' | 'record'>;
  readonly guestAt: (guest: GuestAddress) => GuestClient;
  readonly network?: NetworkSettings;
  readonly lifecycleWaitMs: number;
  readonly chatTimeoutMs: number;
  readonly closing: AbortSignal;
  readonly cut: AbortSignal;
  readonly metrics?: HttpMetrics;
  readonly log: Log;
}

export class AgentHosts {
  private readonly context: Serving;
  private readonly trusts: (address: string, hop: number) => boolean;
  private readonly connections = new Connections();
  private readonly view: BrowserView;

  constructor(context: Serving) {
    this.context = context;
    this.view = new BrowserView(context);
    this.trusts = proxyAddr.compile([...(context.network?.trustedProxies ?? [])]);
  }

  /** Answers a request that is not the API's; false when it is. */
  takes(request: IncomingMessage, response: ServerResponse): boolean {
    return this.take(request, () => ({ response, upgrade: null }));
  }

  takesUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean {
    return this.take(request, () => ({ response: replyOn(request, socket), upgrade: { socket, head } }));
  }

  private take(request: IncomingMessage, open: () => Pick<AddressRequest, 'response' | 'upgrade'>): boolean {
    const host = hostOf(request.headers.host, this.context.agentUrl);
    // A request target may name another host than the header: it is refused if either is an agent's.
    const isPath = request.url!.startsWith('/');
    const other = isPath ? 'api' : hostOf(authorityOf(request.url!), this.context.agentUrl);
    if (host === 'api' && other === 'api') return false;
    const scope = new RequestScope(makeRequestId());
    const { response, upgrade } = open();
    const isClear = isPath && typeof host === 'object' && request.headersDistinct['host']?.length === 1;
    scope.run(() => {
      const reply = { request, response, requestId: scope.fields.request_id };
      const serve = isClear
        ? this.serve({ request, response, upgrade, agent: host, address: proxyAddr(request, this.trusts), scope })
        : Promise.reject(nobody());
      serve.catch((error: unknown) => refuse(this.context.log, error, reply));
    });
    return true;
  }

  private async serve(call: AddressRequest): Promise<void> {
    const { request, response, agent, scope } = call;
    const began = performance.now();
    let who: Admission['fields'] = {};
    response.once('close', () => {
      const { log, metrics } = this.context;
      const ms = Math.round(performance.now() - began);
      const { method = '' } = request;
      const { statusCode: status } = response;
      log.info({ ...scope.fields, ...who, method, route: 'agent address', status, ms }, 'request');
      metrics?.replied({ method, route: 'agent address', status, ms });
      scope.end();
    });
    if (request.method === 'TRACE') throw new Refusal('method_not_allowed', 'TRACE is not passed on.');
    if (isOurPath(request.url!)) return openLink(this.context, call);
    const page = { agentId: agent.id, port: agent.port };
    const { address, upgrade } = call;
    const admission = await admit(this.context, { request, page, address, isUpgrade: upgrade !== null });
    who = admission.fields;
    scope.fields.agent_id = agent.id;
    const isAnyone = admission.published?.public === true;
    const anyone = isAnyone ? { port: agent.port!, network: networkOf(address) } : null;
    const release = this.connections.enter({ agentId: agent.id, anyone });
    try {
      await this.pass(call, admission);
    } finally {
      release();
    }
  }

  /** Wakes the agent, keeps it awake, and connects both sides until either is done. */
  private async pass(call: AddressRequest, admission: Admission): Promise<void> {
    const { agents, lifecycleWaitMs, chatTimeoutMs, agentUrl } = this.context;
    const { request, response, upgrade, agent, address } = call;
    const { accountId } = admission;
    if (agent.port === viewPort) {
      const row = await agents.get(accountId, agent.id);
      checkView(row, agent);
      if (await this.view.sends(call, row)) return;
    } else await checkPage(this.context, accountId, agent, admission.published);
    const signal = this.whileOpen(call);
    const live = await agents.use(accountId, agent.id, { wake: false, timeoutMs: lifecycleWaitMs, signal });
    const looking = setInterval(() => void this.look(call, admission, live), lookEveryMs);
    try {
      signal.throwIfAborted();
      if (agent.port === viewPort) return await this.view.serve(call, admission, live, signal);
      const { port, headers } = serverOf(live, agent);
      const added = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
      const withheld = keyHeaders(request, admission);
      const { scheme } = agentUrl;
      const bounds = { idleMs: chatTimeoutMs, signal };
      const target: Target = { dial: live.guest.dial, port, added, withheld, address, scheme, ...bounds };
      await (upgrade ? tunnel(target, { request, response, ...upgrade }) : forward(target, request, response));
    } finally {
      clearInterval(looking);
      live.release();
    }
  }

  /** Aborts when the call is over, or the server ends it: endless calls at once, the others after a while. */
  private whileOpen({ response, upgrade }: AddressRequest): AbortSignal {
    const over = new AbortController();
    const end = (): unknown => response.destroy();
    const closing = upgrade ? this.context.closing : this.context.cut;
    closing.addEventListener('abort', end);
    if (closing.aborted) end();
    const close = (): void => {
      closing.removeEventListener('abort', end);
      over.abort(new Refusal('agent_unavailable', 'The client went away.'));
    };
    if (response.destroyed) close();
    else response.once('close', close);
    return over.signal;
  }

  private async look({ response, scope }: AddressRequest, admission: Admission, { row }: LiveAgent): Promise<void> {
    try {
      const [still, now] = await Promise.all([admission.still(), this.context.agents.get(row.accountId, row.id)]);
      if (still && now.status === 'running' && now.executionId === row.executionId) return;
    } catch (error) {
      this.context.log.info({ err: error, ...scope.fields }, 'a connection to an agent ends: it cannot be looked at');
    }
    response.destroy();
  }
}

const nobody = (): Refusal => new Refusal('agent_not_found', 'No agent has this address.');

/** The host of a request target in absolute form; empty for any other. */
const authorityOf = (target: string): string => (URL.canParse(target) ? new URL(target).host : '');
