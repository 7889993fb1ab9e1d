/** For tests of routes: the app over agents that are kept in memory and do what the test says. Everything else is real. */
import { randomInt } from 'node:crypto';
import { defaultLifecycle, makeAgentId } from '@lodge/domain';
import { Refusal } from '@lodge/engine';
import type { Agents } from '@lodge/engine';
import type { AgentRow, ChatEndpoint, KeyRefusal, Principal, Provider, Scope } from '@lodge/engine/ports';
import { scopes } from '@lodge/engine/ports';
import type { FastifyInstance } from 'fastify';
import { createHttpApp } from './app.ts';
import type { HttpAppOptions } from './context.ts';

const accountId = 'account';

export function agentRow(row: Partial<AgentRow> = {}): AgentRow {
  const at = new Date('2026-01-31T12:00:00Z');
  return {
    id: makeAgentId(randomInt),
    accountId,
    name: 'Support bot',
    description: null,
    runtimeKind: 'runtime_a',
    model: 'anthropic/claude-sonnet-5',
    size: 'medium',
    lifecycle: defaultLifecycle,
    metadata: {},
    llmKeys: [],
    desired: 'running',
    generation: 1,
    status: 'running',
    statusReason: null,
    executionId: null,
    templateId: null,
    vmAddress: null,
    acknowledged: true,
    createdAt: at,
    updatedAt: at,
    startedAt: at,
    lastActiveAt: null,
    crashes: [],
    ...row,
  };
}

export class MemoryAgents implements Agents {
  rows: AgentRow[] = [];
  /** What `awaitSettled` makes of an agent. */
  settle: (row: AgentRow) => Promise<AgentRow | null> | AgentRow | null = (row) => ({ ...row, status: 'running' });
  endpoint: ChatEndpoint | null = null;
  /** Thrown by the next create. */
  refusal: Error | null = null;
  created: Parameters<Agents['create']>[1][] = [];
  lists: Parameters<Agents['list']>[0][] = [];
  touched: string[] = [];
  readonly providers: readonly Provider[] = [
    {
      id: 'anthropic',
      name: 'Anthropic',
      api: 'anthropic-messages',
      baseUrl: 'https://example.com',
      needsKey: true,
      operatorAdded: false,
      contextWindow: null,
    },
    {
      id: 'local',
      name: 'Local',
      api: 'openai-completions',
      baseUrl: 'http://10.9.8.7/v1',
      needsKey: false,
      operatorAdded: true,
      contextWindow: null,
    },
  ];

  async create(account: string, input: Parameters<Agents['create']>[1]): Promise<AgentRow> {
    if (this.refusal) throw this.refusal;
    this.created.push(input);
    const { name, runtimeKind, size, lifecycle, metadata, description = null, model } = input;
    const llmKeys = input.llmKeys.map(({ provider, apiKey }) => ({
      provider,
      sealed: 'sealed',
      last4: apiKey.slice(-4),
      createdAt: new Date('2026-01-31T12:00:00Z'),
    }));
    const given = { name, runtimeKind, size, lifecycle, metadata, description, llmKeys, ...(model && { model }) };
    const row = agentRow({ ...given, accountId: account, status: 'provisioning', startedAt: null });
    this.rows.push(row);
    return row;
  }

  async awaitSettled(account: string, id: string): Promise<AgentRow | null> {
    return this.settle(await this.get(account, id));
  }

  async get(account: string, id: string): Promise<AgentRow> {
    const row = this.rows.find((candidate) => candidate.id === id && candidate.accountId === account);
    if (!row) throw new Refusal('agent_not_found', `No agent has the id ${id}.`);
    return row;
  }

  async list(filter: Parameters<Agents['list']>[0]) {
    this.lists.push(filter);
    const from = Number(filter.cursor ?? 0);
    const rows = this.rows.slice(from, from + filter.limit);
    const next = from + filter.limit;
    return { rows, nextCursor: next < this.rows.length ? String(next) : null };
  }

  async delete(account: string, id: string): Promise<void> {
    const row = await this.get(account, id);
    this.rows = this.rows.filter((candidate) => candidate !== row);
  }

  async chatEndpoint(account: string, id: string): Promise<ChatEndpoint> {
    const row = await this.get(account, id);
    if (row.status !== 'running' || !this.endpoint) {
      throw new Refusal('agent_not_running', 'Agent is not running. Start it first.', id);
    }
    return this.endpoint;
  }

  touch(id: string): void {
    this.touched.push(id);
  }

  runtimeOf(kind: AgentRow['runtimeKind']) {
    return kind === 'runtime_a' ? { name: 'openclaw', version: '2026.9.6' } : null;
  }
}

/** Keys say what they are: `all`, `revoked`, `expired`, or their scopes parted by commas. */
async function verify(presented: string): Promise<Principal | KeyRefusal> {
  if (presented === 'revoked') return 'revoked_api_key';
  if (presented === 'expired') return 'expired_api_key';
  const wanted = presented === 'all' ? [...scopes] : presented.split(',');
  if (!wanted.every((scope): scope is Scope => scopes.some((known) => known === scope))) return 'invalid_api_key';
  return { accountId, keyId: 'key', scopes: wanted };
}

export interface TestApp {
  readonly app: FastifyInstance;
  readonly agents: MemoryAgents;
  /** What was logged, as JSON. */
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

export function testApp(options: Partial<HttpAppOptions> = {}): TestApp {
  const agents = new MemoryAgents();
  const logged: string[] = [];
  const write = (fields: object, message: string): void => void logged.push(JSON.stringify([fields, message]));
  const app = createHttpApp({
    agents,
    verifier: { verify },
    ready: () => ({ ready: true, step: null }),
    agentUrl: {
      scheme: 'http',
      domain: 'agents.localhost',
      port: 8080,
      prefixes: { runtime_a: 'openclaw', runtime_b: 'hermes' },
    },
    createWaitMs: 1000,
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
