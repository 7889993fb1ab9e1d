/**
 * For tests of routes: the app over agents that are kept in memory and do what the test says. Everything else is real. It stays
 * beside `openLodge`: it needs no database, and each test has one of its own in milliseconds.
 */
import type { Scope } from '@lodge/domain';
import { scopes, noSpendDefaults } from '@lodge/domain';
import { createRunTurn } from '@lodge/engine';
import type { AccountRow, KeyRefusal, Principal, SpendStore } from '@lodge/ports';
import { createGateway } from '@lodge/runtimes';
import type { FastifyInstance } from 'fastify';
import { createHttpApp } from '../../../../../apps/server/src/http/app.ts';
import type { AppOptions } from '../../../../../apps/server/src/http/app.ts';
import type { HttpAppOptions } from '../../../../../apps/server/src/http/context.ts';
import { MemoryAgents, accountId } from './memory-agents.ts';

export { agentRow } from './memory-agents.ts';

/** Keys say what they are: `all`, `revoked`, `expired`, or their scopes parted by commas. */
async function verify(presented: string): Promise<Principal | KeyRefusal> {
  if (presented === 'revoked') return 'revoked_api_key';
  if (presented === 'expired') return 'expired_api_key';
  const wanted = presented === 'all' ? [...scopes] : presented.split(',');
  if (!wanted.every((scope): scope is Scope => scopes.some((known) => known === scope))) return 'invalid_api_key';
  return { accountId, scopes: wanted, by: { kind: 'api_key', id: 'key' } };
}

/** Nobody spends anything, and may. */
export const unlimited: SpendStore = {
  defaults: noSpendDefaults,
  asleep: async () => null,
  note: async () => undefined,
  ofAgent: async () => ({ daySpentUsd: '0', monthSpentUsd: '0', limits: [] }),
  ofAccount: async () => ({ limit: null, daySpentUsd: '0', monthSpentUsd: '0' }),
};

/** Buckets that are never empty; `subjects` gets the name of each that is taken from. */
export function openLimits(subjects: string[] = []): NonNullable<HttpAppOptions['limits']> {
  return {
    store: {
      lease: async (subject, { perMinute }, wanted) => {
        subjects.push(subject);
        return { granted: wanted, left: perMinute };
      },
      enter: async () => 'place',
      leave: async () => undefined,
      prune: async () => undefined,
    },
    rates: { reads: 600, writes: 120, creates: 30, calls: 600, address: 60, createsAtOnce: 5 },
    quotas: { agents: 100, running: 20 },
    spend: unlimited,
  };
}

export interface TestApp {
  readonly app: FastifyInstance;
  readonly agents: MemoryAgents;
  /** The log, as JSON. */
  readonly logged: string[];
  /** One request with the key `all` unless another is given. */
  readonly call: (method: Method, url: string, options?: CallOptions) => Promise<Answer>;
}

type Method = 'GET' | 'POST' | 'DELETE' | 'PUT' | 'PATCH' | 'HEAD' | 'OPTIONS';

interface CallOptions {
  readonly key?: string | null;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
  // eslint-disable-next-line typescript/no-explicit-any -- a test looks into any reply
  readonly body: any;
}

const someone: AccountRow = {
  id: accountId,
  name: 'Ada',
  email: null,
  role: 'owner',
  totpEnabled: false,
  spendLimit: null,
  recordsLlmCalls: false,
  createdAt: new Date(0),
};

/** Nothing is published, and nobody visits. */
const noPlaces: HttpAppOptions['places'] = {
  ports: {
    ofAgent: async () => [],
    find: async () => null,
    publish: async () => 'no_agent',
    unpublish: async () => false,
  },
  visits: { createLink: async () => null, openLink: async () => null, visit: async () => null },
};

/** These are tested over a real store. */
const nothingOf = (what: string): never =>
  new Proxy(
    {},
    {
      get() {
        throw new Error(`this test has no ${what}`);
      },
    },
  ) as never;

export function testApp(options: Partial<AppOptions> = {}): TestApp {
  const agents = new MemoryAgents();
  const logged: string[] = [];
  const write = (fields: object, message: string): void => void logged.push(JSON.stringify([fields, message]));
  const app = createHttpApp({
    agents,
    runTurn: createRunTurn({ agents, gateway: createGateway() }),
    verifier: { verify },
    audit: { page: async () => [] },
    events: { page: async () => [], onAppend: () => () => undefined },
    accounts: { account: async () => someone, update: async (_, change) => ({ ...someone, ...change }) },
    places: noPlaces,
    webhooks: nothingOf('webhooks'),
    schedules: nothingOf('schedules'),
    channels: { channels: nothingOf('channels'), origin: () => 'http://localhost' },
    hooks: nothingOf('hooks'),
    origin: () => 'http://localhost',
    connections: { connections: nothingOf('connections'), origin: () => 'http://localhost' },
    usage: { report: async () => 'too_many', knows: async () => false, calls: async () => [], call: async () => null },
    host: nothingOf('host'),
    limits: openLimits(),
    ready: () => ({ ready: true, step: null }),
    agentUrl: {
      scheme: 'http',
      domain: 'agents.localhost',
      port: 8080,
      prefixes: { runtime_a: 'openclaw', runtime_b: 'hermes' },
    },
    createWaitMs: 1000,
    lifecycleWaitMs: 1000,
    drainMs: 0,
    chatTimeoutMs: 5000,
    version: '0.0.0',
    log: { debug: write, info: write, warn: write, error: write },
    ...options,
  });
  return {
    app,
    agents,
    logged,
    async call(method, url, { key = 'all', body, headers = {} } = {}) {
      const reply = await app.inject({
        method,
        url,
        headers: { ...(key !== null && { 'x-api-key': key }), ...headers },
        ...(body !== undefined && { payload: body as string | object }),
      });
      const isJson = /json/.test(String(reply.headers['content-type'])) && reply.body !== '';
      return {
        status: reply.statusCode,
        headers: reply.headers,
        text: reply.body,
        body: isJson ? reply.json() : null,
      };
    },
  };
}
