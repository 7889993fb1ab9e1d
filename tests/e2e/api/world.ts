/**
 * The whole API over HTTP on a real database, real store, access and engine, and a host of fake machines: what the suites of
 * the contract, of isolation and of attacks run against. Agents really come up, pause and stop; what they answer to a chat is
 * the stub gateway's.
 */
import type { Scope, RuntimeKind } from '@lodge/domain';
import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { cryptography, createSecretBox, openSecretBox, hashApiKey, lastFour, makeApiKey } from '@lodge/access';
import { createAgentVisits, Meter, createConnections, createEngine } from '@lodge/engine';
import { builtinProviders } from '@lodge/broker';
import type { ChannelParts, Engine, EngineDeps, HookParts } from '@lodge/engine';
import { scopes as allScopes } from '@lodge/domain';
import type { Accounts, AgentRuntime } from '@lodge/ports';
import { guestClient, noCredential } from '@lodge/guest';
import { openConnections } from '@lodge/connections';
import type { ConnectionOptions, ConnectionParts } from '@lodge/connections';
import { createGateway, createGuestFiles } from '@lodge/runtimes';
import { webhooksOver } from '@lodge/testkit/webhooks';
import { migrate, openStore } from '@lodge/store';
import type { Store } from '@lodge/store';
import { testDatabase } from '@lodge/testkit/postgres';
import { createFakeDriver, FakeHost } from '@lodge/vm/fake';
import { Client } from 'pg';
import { Daemon } from '../../../apps/guestd/src/testing.ts';
import { createHttpApp } from '../../../apps/server/src/http/app.ts';
import type { NetworkSettings } from '../../../apps/server/src/http/context.ts';
import type { RateSettings } from '../../../apps/server/src/http/pipeline/limits/limits.ts';
import { channelParts } from '../../../packages/testkit/src/plane/channels.ts';
import { startGateway } from './gateway.ts';
import { accountsOver, silent } from '../../../packages/testkit/src/plane/wired-accounts.ts';
import { guestRuntime, noTroubles } from '../../../packages/testkit/src/plane/guest-runtime.ts';

const image = { id: 'image', rootDisk: '/nowhere', kernel: '/nowhere', initrd: '/nowhere' };

/** As many as a test can ask. */
export const manyRates: RateSettings = {
  reads: 1e6,
  writes: 1e6,
  creates: 1e6,
  calls: 1e6,
  address: 1e6,
  createsAtOnce: 1000,
};

export const testMasterKey = Buffer.alloc(32, 7);

export interface ServerOptions {
  readonly connectionString: string;
  readonly rates?: Partial<RateSettings>;
  readonly network?: Partial<NetworkSettings>;
  readonly maxAgents?: number;
  /** False: the API alone, without the engine's loops. */
  readonly loops?: boolean;
  readonly maxRunning?: number;
  readonly createWaitMs?: number;
  readonly lifecycleWaitMs?: number;
  readonly host?: FakeHost;
  /** Kinds of agents that it has; runtime_a alone by default. */
  readonly kinds?: readonly RuntimeKind[];
  /** What of the runtime is not the stub's. */
  readonly runtime?: Partial<AgentRuntime>;
  /** Port on loopback of the daemon that answers for every guest; without it none does. */
  readonly guestPort?: number;
  readonly terminalIdleMs?: number;
  /** Name of the API's host, where it is one within the agents' domain: agents' pages are then of its site. */
  readonly apiHost?: string;
  readonly loopBounds?: EngineDeps['loopBounds'];
  /** Secrets are sealed by a data key, as other processes of a deployment find it. */
  readonly hasMasterKey?: true;
  /** Bounds of hooks that are not the usual ones. */
  readonly hookBounds?: HookParts['bounds'];
  /** What of channels is not the usual fakes'. */
  readonly channels?: Partial<ChannelParts>;
  /** What of connections is not the usual. */
  readonly connections?: Partial<ConnectionOptions>;
  /** Told what went wrong inside. */
  readonly onError?: (fields: object, message: string) => void;
}

export interface ApiServer {
  /** Origin; paths begin with /v1. */
  readonly url: string;
  /** Where browsers reach it. */
  readonly origin: string;
  readonly accounts: Accounts;
  readonly host: FakeHost;
  readonly store: Store;
  readonly engine: Engine;
  /** MCP connections, as tools of their agents. */
  readonly tools: ConnectionParts['tools'];
  close(): Promise<void>;
}

/** The name under which the server of a process has its agents: each has a host of machines of its own. */
export const holderOf = (pid: number): string => `test-${pid}`;

/** One server process' worth: several may be over one database. */
export async function startServer(options: ServerOptions): Promise<ApiServer> {
  const { connectionString, host = new FakeHost() } = options;
  const log = { ...silent, ...(options.onError && { error: options.onError }) };
  const store = await openStore({ connectionString, log: silent });
  const driver = createFakeDriver(host);
  const meter = new Meter({ driver, usage: store.usage, log: silent });
  const gateway = await startGateway();
  const runtime = {
    ...guestRuntime(host, noTroubles(), []),
    chatEndpoint: () => ({
      baseUrl: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}/v1`,
      headers: {},
      model: 'openclaw',
      takesPictures: false,
    }),
    ...options.runtime,
  };
  const guestAt = () => guestClient({ address: '127.0.0.1', port: options.guestPort ?? 1, credential: noCredential });
  const maxAgents = options.maxAgents ?? 1000;
  const running = options.maxRunning ?? 1000;
  const secrets = options.hasMasterKey
    ? await openSecretBox(store.secrets, testMasterKey)
    : createSecretBox(testMasterKey);
  const engine = createEngine({
    store: store.agents,
    logs: store.agentLogs,
    events: store.events,
    driver,
    beforeEnd: (agentId) => meter.readLast(agentId),
    images: {
      idOf: () => Promise.resolve(image.id),
      find: () => Promise.resolve(image),
      ensure: () => Promise.resolve(image),
    },
    runtimes: new Map((options.kinds ?? ['runtime_a']).map((kind) => [kind, runtime])),
    gateway: createGateway(),
    providers: builtinProviders,
    secrets,
    log: silent,
    defaultModel: 'anthropic/claude-sonnet-5',
    maxAgentsPerAccount: maxAgents,
    maxRunningPerAccount: running,
    memory: { reservedMib: 1024, overcommit: 16 },
    spend: store.spend,
    schedules: { store: store.schedules, runs: store.scheduleRuns },
    hooks: {
      store: store.hooks,
      turns: store.hookTurns,
      tokens: cryptography.tokens,
      bounds: { ...options.hookBounds },
    },
    channels: channelParts(store, { guestFiles: createGuestFiles(guestAt), ...options.channels }),
    ...(options.loopBounds && { loopBounds: options.loopBounds }),
    holder: holderOf(process.pid),
    provisionTimeoutMs: 240_000,
  });
  const wired = accountsOver(store, { secrets });
  const { accounts, verifier } = wired;
  const { webhooks, delivering } = webhooksOver(store, { secrets, log: silent });
  const parts = openConnections({
    directory: store.connections,
    grants: store.connectionGrants,
    secrets,
    logs: store.agentLogs,
    log,
    addresses: 'public',
    egressProxy: null,
    ...options.connections,
  });
  const connections = createConnections({
    agents: engine.agents,
    store: store.connections,
    grants: store.connectionGrants,
    oauthSessions: store.oauthSessions,
    consent: parts.consent,
    secrets,
    anyAddress: options.connections?.addresses === 'any',
  });
  let origin = '';
  const app = createHttpApp({
    account: { accounts, spend: store.spend, origin: () => origin, pages: null },
    agents: engine.agents,
    runTurn: engine.runTurn,
    verifier,
    audit: store.audit,
    events: store.events,
    accounts,
    channels: { channels: engine.channels, origin: () => origin },
    webhooks,
    schedules: engine.schedules,
    connections: { connections, origin: () => origin },
    places: { ports: store.agentPorts, visits: createAgentVisits(store.agentVisits, cryptography.tokens) },
    hooks: { hooks: engine.hooks, origin: () => origin },
    usage: store.usage,
    idempotency: store.idempotency,
    secrets,
    limits: {
      store: store.limits,
      rates: { ...manyRates, ...options.rates },
      quotas: { agents: maxAgents, running },
      spend: store.spend,
    },
    network: { maxConnections: 10_000, trustedProxies: [], corsOrigins: [], ...options.network },
    ready: () => ({ ready: true, step: null }),
    agentUrl: {
      scheme: 'http',
      domain: 'agents.localhost',
      ...(options.apiHost !== undefined && { apiHost: options.apiHost }),
      port: null,
      prefixes: { runtime_a: 'openclaw', runtime_b: 'hermes' },
    },
    createWaitMs: options.createWaitMs ?? 10_000,
    lifecycleWaitMs: options.lifecycleWaitMs ?? 10_000,
    chatTimeoutMs: 120_000,
    drainMs: 0,
    guestAt,
    ...(options.terminalIdleMs !== undefined && { terminalIdleMs: options.terminalIdleMs }),
    version: '0',
    log,
  });
  await driver.start();
  if (options.loops !== false) {
    engine.start();
    delivering.start();
  }
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  origin = options.apiHost === undefined ? url : `http://${options.apiHost}:${new URL(url).port}`;
  return {
    url,
    origin,
    accounts,
    host,
    store,
    engine,
    tools: parts.tools,
    async close() {
      await app.close();
      await parts.close();
      await delivering.stop();
      await engine.stop();
      await driver.stop();
      await wired.close();
      await store.close();
      gateway.closeAllConnections();
      await new Promise((resolve) => gateway.close(resolve));
    },
  };
}

export interface World extends ApiServer {
  readonly connectionString: string;
  /** The real daemon of guests, on a folder that stands for the root of all of them. */
  readonly guest: Daemon | null;
  readonly accountId: string;
  /** A key with every scope. */
  readonly key: string;
  readonly sql: Client;
  keyOf(accountId: string, scopes?: readonly Scope[], expiresAt?: Date | null): Promise<string>;
  newAccount(): Promise<string>;
}

/** A database with one account, and one server over it. */
export async function openWorld(
  options: Omit<ServerOptions, 'connectionString'> & { readonly withGuest?: true } = {},
): Promise<World> {
  const database = await testDatabase();
  await migrate(database);
  const guest = options.withGuest ? await startGuest() : null;
  const server = await startServer({ ...options, ...database, ...(guest && { guestPort: guest.port }) });
  const { apiKeys } = server.store;
  const sql = new Client(database);
  await sql.connect();
  const key = makeApiKey();
  const row = { hash: hashApiKey(key), last4: lastFour(key), expiresAt: null };
  const first = await apiKeys.createFirstAccount('first', { name: 'all', scopes: allScopes, ...row });
  return {
    ...server,
    connectionString: database.connectionString,
    guest,
    accountId: first!.accountId,
    key,
    sql,
    async keyOf(accountId, scopes = allScopes, expiresAt = null) {
      const made = makeApiKey();
      await apiKeys.insert(accountId, {
        name: scopes.join(),
        hash: hashApiKey(made),
        last4: lastFour(made),
        scopes: [...scopes],
        expiresAt,
      });
      return made;
    },
    async newAccount() {
      const name = randomBytes(4).toString('hex');
      const { rows } = await sql.query<{ id: string }>('insert into accounts (name) values ($1) returning id', [name]);
      return rows[0]!.id;
    },
    async close() {
      await sql.end();
      await server.close();
      await guest?.remove();
      await database.drop();
    },
  };
}

async function startGuest(): Promise<Daemon> {
  const guest = new Daemon();
  await guest.prepare();
  await guest.start();
  return guest;
}

export interface Call {
  readonly key?: string | null;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // eslint-disable-next-line typescript/no-explicit-any -- a test looks into any reply
  readonly body: any;
}

/** One request; a body that is no string is sent as JSON. */
export async function send(url: string, method: string, path: string, { key, body, headers }: Call): Promise<Answer> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      ...(key != null && { 'x-api-key': key }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') && text !== '';
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : null };
}
