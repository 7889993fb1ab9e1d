/* oxlint-disable no-restricted-imports -- only tests import this file */
/** An agent's door to its connections over a real database, a service that counts its calls, and control planes that may be killed. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createSecretBox } from '@lodge/access';
import type { Confirmations, ConfirmationStatus, Json } from '@lodge/domain';
import { textOfAnswer } from '@lodge/ports';
import type { ConnectionConsent, StoredCall } from '@lodge/ports';
import { createGuestFiles } from '@lodge/runtimes';
import { FakeHost } from '@lodge/vm/fake';
import { openConnections } from '../../../../connections/src/parts.ts';
import { createOutbound } from '../../../../egress/src/outbound.ts';
import type { Outbound } from '../../../../egress/src/outbound.ts';
import { MemoryFiles } from '../../../../testkit/src/plane/channels.ts';
import { FakeGateway } from '../../../../testkit/src/plane/fake-gateway.ts';
import { never, running, silent, startPlane, until, World } from '../../../../testkit/src/plane/plane.ts';
import type { Plane } from '../../../../testkit/src/plane/plane.ts';
import { createToyRuntime } from '../../../../testkit/src/plane/toy-runtime/toy-runtime.ts';
import { createAgentTools } from '../../agent-tools/agent-tools.ts';
import { createConnectionDirectory, createConnectionGrants } from '../../connections/directory.ts';
import { createConnections } from '../../connections/connections.ts';
import { message } from '../../turns/run-turn.ts';
import type { ConfirmationBounds } from '../bounds.ts';

const noConsent: ConnectionConsent = {
  begin: () => Promise.reject(new Error('nobody consents here')),
  exchange: () => Promise.reject(new Error('nobody consents here')),
};

export const hostName = 'api.code.example';

const work = { lookEveryMs: 30, leaseMs: 600, drainMs: 50 };

export interface ServiceCall {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export type TestCalls = Awaited<ReturnType<typeof openTestCalls>>;

/** `bounds` hold for each server unless it is opened with others. */
export async function openTestCalls(always: Partial<ConfirmationBounds> = {}) {
  const world = await World.open();
  const host = new FakeHost();
  const gateway = new FakeGateway();
  const secrets = createSecretBox(randomBytes(32));
  const calls: ServiceCall[] = [];
  const state = {
    /** Whether the service never answers a call with this body. */
    holds: (_body: string): boolean => false,
    /** Called when the service has a call and is about to answer. */
    answers: (_body: string): void => undefined,
    /** Called before a server makes a call that no turn waits for. */
    makes: async (_call: StoredCall): Promise<void> => undefined,
  };
  const service = await listening((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      calls.push({ method: req.method!, url: req.url!, headers: req.headers, body });
      if (state.holds(body)) return;
      state.answers(body);
      if (req.url === '/v1/moved') res.writeHead(302, { location: '/v1/guarded' }).end();
      else res.end('{"refunded":true}');
    });
  });
  const outbound = createOutbound(5_000, null);
  /** Names of hosts lead to the service. */
  const toService: Outbound = {
    ...outbound,
    send: (to, { url, ...asked }) => outbound.send(to, { ...asked, url: url.replace(/^https:\/\/[^/]+/, service.url) }),
  };
  const authority = async () => ({ certificate: 'the certificate', key: 'the key' });
  const open = async (bounds: Partial<ConfirmationBounds> = {}, on: FakeHost = host) => {
    const plane = await startPlane(world, on, {
      gateway,
      secrets,
      runtimes: new Map([['runtime_a', createToyRuntime(1)]]),
      confirmations: {
        bounds: { waitMs: 150, waitsMs: [50, 50], graceMs: 300, expireEveryMs: 50, ...always, ...bounds },
      },
      work,
    });
    const parts = openConnections({
      directory: createConnectionDirectory(world.store.database),
      grants: createConnectionGrants(world.store.database),
      secrets,
      logs: { append: async () => undefined },
      log: silent,
      authority,
      addresses: 'any',
      egressProxy: null,
      hostOutbound: toService,
      guard: plane.engine.asking,
    });
    const { engine, agents, schedules } = plane;
    const tools = createAgentTools({
      dashboardUrl: 'https://lodge.example',
      ...world.store,
      agents,
      runTurn: engine.runTurn,
      askedTurns: (id) => engine.askedTurns(id),
      files: new MemoryFiles(),
      guestFiles: createGuestFiles(),
      schedules,
      sources: [parts.tools],
      guard: engine.asking,
      log: silent,
    });
    engine.makeCallsBy(async (agent, call, signal) => {
      await state.makes(call);
      return (call.kind === 'tool' ? tools : parts).make(agent, call, signal);
    });
    return { plane, parts, tools };
  };
  let now = await open();
  const agent = await running(world, now.plane);
  const { id: agentId } = agent;
  const { accountId } = world;
  const connections = () =>
    createConnections({
      database: world.store.database,
      agents: now.plane.agents,
      secrets,
      consent: noConsent,
      anyAddress: true,
      isOwnHost: () => false,
      authority,
    });
  await connections().put(accountId, agentId, {
    name: 'stripe',
    kind: 'http',
    url: `${service.url}/v1`,
    allow: [{ methods: ['GET', 'POST', 'DELETE'], paths: ['/*'] }],
    tools: undefined,
    enabled: true,
    auth: undefined,
    headers: { Authorization: 'Bearer secret-mark-7Qx9' },
  });
  const code = await connections().put(accountId, agentId, {
    name: 'code',
    kind: 'host',
    url: undefined,
    hosts: [hostName, `www.${hostName}`],
    secrets: { CODE_TOKEN: { value: 'secret-mark-8Hz4', in: ['authorization'] } },
    allow: [{ methods: ['GET', 'POST'], paths: ['/*'] }],
    tools: undefined,
    enabled: true,
    auth: undefined,
    headers: undefined,
  });
  let rules: Confirmations | null = null;
  let isDead = false;
  function kill(): void {
    if (isDead) return;
    isDead = true;
    now.plane.kill();
    void now.parts.close();
  }
  const pending = () => now.plane.confirmations.list(accountId, { limit: 100, status: 'pending' });
  const door = await listening((req, res) => {
    const left = new AbortController();
    res.once('close', () => left.abort());
    const guest = { agentId, accountId, confirmations: rules };
    void now.parts.door.handle(guest, req, res, left.signal).catch(() => res.destroy());
  });
  /** The requests of a program that has ended TLS already. */
  const hostDoor = await listening((req, res) => {
    const left = new AbortController();
    res.once('close', () => left.abort());
    Object.assign(req.socket, { servername: hostName });
    const guest = { agentId, accountId, confirmations: rules };
    void now.parts.hostDoor.handle(guest, req, res, left.signal).catch(() => res.destroy());
  });
  return {
    world,
    gateway,
    /** The text in the machine that stands for the secret of the connection `code`. */
    placeholder: code.secrets[0]!.placeholder,
    calls,
    state,
    agentId,
    accountId,
    secrets,
    connections,
    get plane(): Plane {
      return now.plane;
    },
    /** Rules of the agent, in the row and at the door. */
    async rule(given: Partial<Confirmations>): Promise<void> {
      rules = { rules: [], default: 'allow', deliver: [], deciders: [], expires: '24h', ...given };
      await now.plane.agents.update(accountId, agentId, { confirmations: rules });
    },
    /** Sends a request of the agent's to the service. */
    async send(path: string, init: RequestInit = {}): Promise<{ readonly status: number; readonly text: string }> {
      const answer = await fetch(`${door.url}/connections/stripe${path}`, { method: 'POST', body: '{"a":1}', ...init });
      return { status: answer.status, text: await answer.text() };
    },
    doorUrl: door.url,
    async ended(id: string, status: ConfirmationStatus): Promise<void> {
      let seen: string | undefined;
      await until(`it is ${status}`, async () => {
        seen = (await now.plane.confirmations.get(accountId, id)).status;
        return seen === status;
      }).catch((error: unknown) => {
        throw new Error(`it is ${seen}`, { cause: error });
      });
    },
    /** Sends a request of a program's to the host of the connection `code`. */
    async sendToHost(
      path: string,
      init: { readonly headers?: Readonly<Record<string, string>>; readonly body?: string } = {},
    ): Promise<{ readonly status: number; readonly text: string }> {
      const headers = { host: hostName, authorization: `Bearer ${code.secrets[0]!.placeholder}`, ...init.headers };
      const body = Buffer.from(init.body ?? '{"a":1}');
      const url = `${hostDoor.url}${path}`;
      const to = { privateAddresses: true } as const;
      const answer = await outbound.send(to, { method: 'POST', url, headers, body, signal: never });
      return { status: answer.statusCode, text: await answer.body.text() };
    },
    /** Uses a tool of the agent's. */
    async use(
      name: string,
      args: Json,
      { tools } = now,
    ): Promise<{ readonly isError: boolean; readonly text: string }> {
      const answer = await tools.call({ agentId, accountId, confirmations: rules }, name, args, never);
      return { isError: answer!.isError, text: textOfAnswer(answer!) };
    },
    /** The agent has a turn in this conversation until `work` ends. */
    async inTurn<T>(conversation: string, work: () => Promise<T>): Promise<T> {
      const { promise, resolve } = Promise.withResolvers<void>();
      const steps = gateway.steps;
      gateway.steps = [{ after: promise }, { text: 'ok' }];
      const answer = await now.plane.engine.runTurn({
        agentId,
        accountId,
        member: null,
        conversation,
        origin: 'api',
        said: message('go'),
        wake: true,
        wakeTimeoutMs: 10_000,
        timeoutMs: 20_000,
        signal: new AbortController().signal,
      });
      gateway.steps = steps;
      const text = answer.text();
      try {
        return await work();
      } finally {
        resolve();
        await text;
      }
    },
    /** The confirmation that waits, once somebody was asked. */
    async asked() {
      let row: Awaited<ReturnType<typeof pending>>[number] | undefined;
      await until('somebody is asked', async () => {
        [row] = await pending();
        return row !== undefined;
      });
      return row!;
    },
    list: (status?: 'pending') => now.plane.confirmations.list(accountId, { limit: 100, ...(status && { status }) }),
    /** The messages that told the agent an end in turns of their own. */
    told: (id: string): readonly string[] =>
      gateway.turns
        .map(({ body }) => (body['messages'] as { content: string }[])[0]!.content)
        .filter((text) => text.startsWith(`[call outcome {"confirmation":"${id}"`)),
    kill,
    /** Another server in the place of this one, which is killed. */
    async restart(bounds: Partial<ConfirmationBounds> = {}): Promise<void> {
      kill();
      now = await open(bounds);
      isDead = false;
    },
    open,
    async close(): Promise<void> {
      door.close();
      hostDoor.close();
      service.close();
      await outbound.close();
      await now.plane.end();
      await now.parts.close();
      await world.close();
    },
  };
}

async function listening(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close(): void {
      server.closeAllConnections();
      server.close();
    },
  };
}
