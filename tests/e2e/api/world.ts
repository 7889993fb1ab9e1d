/**
 * The whole API over HTTP, as the product puts it together (`openLodge`): what the suites of the contract, of isolation and of
 * attacks run against. Agents really come up, pause and stop on a host of fake machines. A stub gateway answers to their chats.
 */
import type { Scope, RuntimeKind } from '@lodge/domain';
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { hostname } from 'node:os';
import { hashApiKey, lastFour, makeApiKey } from '@lodge/access';
import { scopes as allScopes } from '@lodge/domain';
import type { AgentRuntime } from '@lodge/ports';
import { dialTo, guestClient, noCredential } from '@lodge/guest';
import { openLodge } from '@lodge/testkit/lodge';
import type { OpenedLodge, OpenLodgeOptions } from '@lodge/testkit/lodge';
import { testDatabase } from '@lodge/testkit/postgres';
import { FakeHost } from '@lodge/vm/fake';
import { Client } from 'pg';
import { Daemon } from '../../../apps/guestd/src/testing.ts';
import type { RateSettings } from '../../../apps/server/src/http/pipeline/limits/limits.ts';
import type { LodgeParts } from '../../../apps/server/src/wire.ts';
import { guestRuntime, noTroubles } from '../../../packages/testkit/src/plane/guest-runtime.ts';
import { silent } from '../../../packages/testkit/src/plane/wired-accounts.ts';
import { startGateway } from './gateway.ts';
import { insertKey } from '@lodge/store/accounts';

export const testMasterKey = Buffer.alloc(32, 7);

const variables = {
  maxAgents: 'LODGE_MAX_AGENTS',
  maxRunning: 'LODGE_MAX_RUNNING',
  maxConnections: 'LODGE_MAX_CONNECTIONS',
  createWaitMs: 'LODGE_CREATE_WAIT_MS',
  lifecycleWaitMs: 'LODGE_LIFECYCLE_WAIT_MS',
} as const;
const rateVariables: Readonly<Record<keyof RateSettings, string>> = {
  reads: 'LODGE_RATE_READS',
  writes: 'LODGE_RATE_WRITES',
  creates: 'LODGE_RATE_CREATES',
  calls: 'LODGE_RATE_CALLS',
  address: 'LODGE_RATE_ADDRESS',
  createsAtOnce: 'LODGE_CREATES_AT_ONCE',
};

export interface ServerOptions
  extends
    Pick<OpenLodgeOptions, 'settings' | 'host' | 'relays' | 'relayEntry' | 'gmail' | 'bounds' | 'api'>,
    Readonly<Partial<Record<keyof typeof variables, number>>> {
  readonly connectionString: string;
  /** As many as a test can ask, but for these. */
  readonly rates?: Partial<RateSettings>;
  /** False: the API alone, without the engine's loops and the broker. */
  readonly loops?: boolean;
  /** Kinds of agents that it has; runtime_a alone by default. */
  readonly kinds?: readonly RuntimeKind[];
  /** The parts of the runtime that differ from the stub's. */
  readonly runtime?: Partial<AgentRuntime>;
  /** Port on loopback of the daemon that answers for every guest; without it none does. */
  readonly guestPort?: number;
  /** Name of the API's host, where it is one within the agents' domain: agents' pages are then of its site. */
  readonly apiHost?: string;
  /** Receives internal errors. */
  readonly onError?: (fields: object, message: string) => void;
}

export interface ApiServer extends LodgeParts, Pick<OpenedLodge, 'brokerUrl'> {
  /** Origin; paths begin with /v1. */
  readonly url: string;
  /** The address at which browsers reach it. */
  readonly origin: string;
  readonly host: FakeHost;
  /** The first API key, from the server that has made it. */
  readonly firstKey: string | null;
  close(): Promise<void>;
}

/** The name under which the server of a process has its agents: each has a host of machines of its own. */
export const holderOf = (pid: number): string => `${instanceOf(pid)}@${hostname()}`;
const instanceOf = (pid: number): string => `t${pid}`;

/** One server process' worth: several may be over one database. */
export async function startServer(options: ServerOptions): Promise<ApiServer> {
  const { connectionString, host = new FakeHost(), apiHost } = options;
  const gateway = await startGateway();
  const runtime = {
    ...guestRuntime(host, noTroubles(), []),
    chatEndpoint: () => ({
      dial: dialTo('127.0.0.1'),
      baseUrl: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}/v1`,
      headers: {},
      model: 'openclaw',
      takesPictures: false,
    }),
    ...options.runtime,
  };
  const port = apiHost === undefined ? 0 : await freePort();
  const lodge = await openLodge({
    ...options,
    connectionString,
    host,
    settings: {
      LODGE_INSTANCE: instanceOf(process.pid),
      LODGE_PORT: String(port),
      ...(apiHost !== undefined && { LODGE_PUBLIC_URL: `http://${apiHost}:${port}` }),
      ...settingsOf(options),
      ...options.settings,
    },
    runtimes: new Map((options.kinds ?? ['runtime_a']).map((kind) => [kind, runtime])),
    machines: options.loops !== false,
    masterKey: testMasterKey,
    guestAt: () => guestClient({ dial: dialTo('127.0.0.1'), port: options.guestPort ?? 1, credential: noCredential }),
    log: { ...silent, ...(options.onError && { error: options.onError }) },
  });
  const origin = new URL(lodge.baseUrl);
  await lodge.firstKey?.shown();
  return {
    ...lodge.parts,
    url: `http://127.0.0.1:${origin.port}`,
    origin: origin.origin,
    brokerUrl: lodge.brokerUrl,
    host,
    firstKey: lodge.firstKey?.plaintext ?? null,
    async close() {
      await lodge.close();
      gateway.closeAllConnections();
      await new Promise((resolve) => gateway.close(resolve));
    },
  };
}

function settingsOf(options: ServerOptions): Record<string, string> {
  const named = Object.entries(variables).map(([key, name]) => [name, options[key as keyof typeof variables]] as const);
  const rates = Object.entries(options.rates ?? {}).map(
    ([key, rate]) => [rateVariables[key as keyof RateSettings], rate] as const,
  );
  const given = [...named, ...rates].filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
}

/** A port that is free now: the Lodge's public address must name it before it listens. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
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
  const guest = options.withGuest ? await startGuest() : null;
  const server = await startServer({ ...options, ...database, ...(guest && { guestPort: guest.port }) });
  const sql = new Client(database);
  await sql.connect();
  const { rows: accounts } = await sql.query<{ id: string }>('select id from accounts');
  return {
    ...server,
    connectionString: database.connectionString,
    guest,
    accountId: accounts[0]!.id,
    key: server.firstKey!,
    sql,
    async keyOf(accountId, scopes = allScopes, expiresAt = null) {
      const made = makeApiKey();
      const row = { name: scopes.join(), hash: hashApiKey(made), last4: lastFour(made), scopes, expiresAt };
      await server.store.database.transaction((trx) => insertKey(trx, { ...row, accountId }));
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
