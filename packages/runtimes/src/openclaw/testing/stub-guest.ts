/**
 * For tests: a guest on a loopback address of its own, with the daemon's calls and OpenClaw's gateway as far as the adapter
 * uses them, over real sockets. It records the events, in order.
 */
import { dialTo, noCredential } from '@lodge/guest';
import type { Dial } from '@lodge/ports';
import { randomInt } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { bodyOf, json, listen, listenDaemon, newDaemon, pong, type StubDaemon } from '../../testing/stub-daemon.ts';
import { configPath, gatewayPort } from '../config.ts';

/** Events beside the daemon's: `chat <model> <stream|whole>`, `rpc <method>`, `released <suspensionId>`. */
export interface StubGuest extends StubDaemon {
  readonly address: string;
  readonly dial: Dial;
  readonly credential: () => Promise<null>;
  /** Answers of the gateway; a test changes them for other behaviour. */
  readonly gateway: {
    ready: boolean;
    /** Answers to each RPC method, in order; the last one stays. */
    rpc: Record<string, { status: number; body: object }[]>;
    chatStatus: number;
  };
  /** Names of agents whose deletion OpenClaw remembers. */
  readonly deleted: Set<string>;
  close(): Promise<void>;
}

export const ok = (payload: object): { status: number; body: object } => ({ status: 200, body: { ok: true, payload } });

export async function startStubGuest(): Promise<StubGuest> {
  const address = `127.${randomInt(1, 255)}.${randomInt(0, 256)}.${randomInt(2, 255)}`;
  const servers: Server[] = [];
  const guest: StubGuest = {
    address,
    dial: dialTo(address),
    credential: noCredential,
    ...newDaemon(),
    gateway: {
      ready: true,
      rpc: {
        'gateway.suspend.prepare': [ok({ status: 'ready', suspensionId: 's-1' })],
        'gateway.suspend.resume': [ok({ ok: true, status: 'running', resumed: true })],
      },
      chatStatus: 200,
    },
    deleted: new Set(),
    async close() {
      for (const server of servers) {
        server.close();
        server.closeAllConnections();
      }
    },
  };
  servers.push(
    await listenDaemon(address, guest),
    await listen(address, gatewayPort, (request, response) => serveGateway(guest, request, response)),
  );
  return guest;
}

async function serveGateway(guest: StubGuest, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { gateway, events } = guest;
  if (request.url === '/readyz') {
    return json(response, gateway.ready ? 200 : 503, {
      ready: gateway.ready,
      failing: gateway.ready ? [] : ['starting'],
    });
  }
  const token = guest.files.size > 0 && configOf(guest).gateway.auth.token;
  if (token && request.headers.authorization !== `Bearer ${token}`) return json(response, 401, {});
  const body = JSON.parse(await bodyOf(request)) as {
    method: string;
    stream: boolean;
    params: RpcParams & { readonly suspensionId?: string };
  };
  if (request.url === '/api/v1/admin/rpc') {
    events.push(`rpc ${body.method}`);
    const answers = gateway.rpc[body.method] ?? [roster(guest, body.method, body.params)];
    const answer = answers.length > 1 ? answers.shift()! : answers[0]!;
    if (body.method === 'gateway.suspend.resume' && answer.status === 200) {
      events.push(`released ${body.params.suspensionId}`);
    }
    return json(response, answer.status, answer.body);
  }
  events.push(`chat ${String(request.headers['x-openclaw-model'])} ${body.stream ? 'stream' : 'whole'}`);
  if (gateway.chatStatus !== 200) return json(response, gateway.chatStatus, { error: { message: 'scripted' } });
  pong(response, body.stream);
}

type RpcParams = Readonly<Partial<Record<'raw' | 'baseHash' | 'agentId' | 'name' | 'workspace', string>>>;

interface Config {
  readonly gateway: { readonly auth: { readonly token: string } };
  readonly agents: { readonly entries: Record<string, unknown> };
}

const configOf = (guest: StubGuest): Config => JSON.parse(guest.files.get(configPath)!) as Config;
const refused = (message: string) => ({
  status: 400,
  body: { ok: false, error: { code: 'INVALID_REQUEST', message } },
});

/** OpenClaw's answer to a change after which its turns fail: one that brings back the name of a deleted agent. */
const recoveryRestart = {
  status: 503,
  body: { ok: false, error: { code: 'UNAVAILABLE', message: 'persisted, but a recovery restart is required' } },
};

/** Returns OpenClaw's agents, which are those of its configuration. */
function roster(
  guest: StubGuest,
  method: string,
  { raw = '', baseHash, agentId = '', name = '', workspace = '' }: RpcParams,
): { status: number; body: object } {
  const config = configOf(guest);
  const { entries } = config.agents;
  const hash = String(Object.keys(entries).length);
  const written = (): { status: number; body: object } => {
    guest.files.set(configPath, JSON.stringify(config));
    return ok({});
  };
  switch (method) {
    case 'config.get':
      return ok({ hash });
    case 'config.patch': {
      if (baseHash !== hash) return refused('config changed since last load');
      const patch = (JSON.parse(raw) as Config).agents.entries;
      if (Object.keys(patch).some((id) => guest.deleted.has(id))) return recoveryRestart;
      Object.assign(entries, patch);
      return written();
    }
    case 'agents.create':
      if (name in entries) return refused(`agent "${name}" already exists`);
      entries[name] = { name, workspace, agentDir: `/home/agent/.openclaw/agents/${name}/agent` };
      guest.deleted.delete(name);
      return written();
    case 'agents.list':
      return ok({ agents: Object.keys(entries).map((id) => ({ id })) });
    case 'agents.delete':
      if (!(agentId in entries)) return refused(`agent "${agentId}" not found`);
      delete entries[agentId];
      guest.deleted.add(agentId);
      return written();
    default:
      return refused('unknown');
  }
}
