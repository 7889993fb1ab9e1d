/** For tests of routes: agents that are kept in memory and do what the test says. */
import { Refusal, admit, defaultLifecycle, makeAgentId, operationGoals, publicEgress } from '@lodge/domain';
import { randomInt } from 'node:crypto';
import type { AgentStatus, Happening, Verb } from '@lodge/domain';
import type { Agents, CreateOptions, LiveAgent } from '@lodge/engine';
import type { AgentRow, By, ChatEndpoint, ChatTurn, LogEntry, LogQuery, NewLogEntry, Provider } from '@lodge/ports';
import { logLevels } from '@lodge/ports';
import { createHermesRuntime, createOpenclawRuntime } from '@lodge/runtimes';

export const accountId = 'account';
const at = new Date('2026-01-31T12:00:00Z');

export function agentRow(row: Partial<AgentRow> = {}): AgentRow {
  return {
    id: makeAgentId(randomInt),
    accountId,
    name: 'Support bot',
    description: null,
    runtimeKind: 'runtime_a',
    model: 'anthropic/claude-sonnet-5',
    size: 'medium',
    lifecycle: defaultLifecycle,
    labels: {},
    metadata: {},
    instructions: null,
    dashboard: false,
    spendLimit: null,
    egress: publicEgress,
    models: null,
    peers: [],
    members: [],
    llmKeys: [],
    channels: [],
    desired: 'running',
    operation: null,
    generation: 1,
    status: 'running',
    statusReason: null,
    executionId: null,
    templateId: null,
    runtimeVersion: null,
    vmAddress: null,
    host: null,
    machine: null,
    settingsApplied: null,
    egressVersion: 1,
    egressApplied: 1,
    acknowledged: true,
    createdAt: at,
    updatedAt: at,
    startedAt: at,
    pausedAt: null,
    stoppedAt: null,
    lastActiveAt: null,
    crashes: [],
    ...row,
  };
}

/** For what their errors mean. */
const runtimes = { runtime_a: createOpenclawRuntime(), runtime_b: createHermesRuntime() };

export class MemoryAgents implements Agents {
  rows: AgentRow[] = [];
  /** The recorded events of agents' machines. */
  readonly recorded: { readonly id: string; readonly event: Happening; readonly by: By }[] = [];
  /** The effect of `awaitStatus` on an agent. */
  settle: (row: AgentRow) => Promise<AgentRow | null> | AgentRow | null = (row) => ({ ...row, status: 'running' });
  /** The effect of `awaitVerb` on an agent. */
  finish: (row: AgentRow, verb: Verb, signal: AbortSignal) => Promise<AgentRow> | AgentRow = (row, verb) => ({
    ...row,
    operation: null,
    status: operationGoals[verb],
  });
  endpoint: ChatEndpoint | null = null;
  /** Where the pages of its runtime are served. */
  web: LiveAgent['web'] = () => null;
  /** Thrown by the next create. */
  refusal: Error | null = null;
  readonly created: Parameters<Agents['create']>[1][] = [];
  readonly updates: Parameters<Agents['update']>[2][] = [];
  readonly lists: Parameters<Agents['list']>[0][] = [];
  readonly turns: ChatTurn[] = [];
  readonly uses: Parameters<Agents['use']>[2][] = [];
  /** Ids of agents as each use of them ended. */
  readonly released: string[] = [];
  readonly entries: (LogEntry & { readonly agentId: string })[] = [];
  readonly #listeners = new Set<() => void>();
  readonly providers: readonly Provider[] = [
    {
      id: 'anthropic',
      name: 'Anthropic',
      api: 'anthropic-messages',
      endpoints: { 'anthropic-messages': { baseUrl: 'https://example.com', keyHeader: 'x-api-key' } },
      needsKey: true,
      keyCheck: null,
      docsUrl: 'https://example.com/docs',
      headers: {},
      models: [],
      operatorAdded: false,
      onlyModels: false,
      privateAddresses: false,
      contextWindow: null,
    },
    {
      id: 'local',
      name: 'Local',
      api: 'openai-completions',
      endpoints: { 'openai-completions': { baseUrl: 'http://10.9.8.7/v1', keyHeader: 'authorization' } },
      needsKey: false,
      keyCheck: null,
      docsUrl: null,
      headers: { 'x-gateway-token': 'gateway-secret-1' },
      models: [
        {
          name: 'big',
          contextWindow: 32_768,
          prices: { input: '0.25', output: '2', cacheRead: null, cacheWrite: null },
        },
      ],
      operatorAdded: true,
      onlyModels: false,
      privateAddresses: true,
      contextWindow: null,
    },
  ];

  async create(
    account: string,
    input: Parameters<Agents['create']>[1],
    options: CreateOptions = {},
  ): Promise<AgentRow> {
    if (this.refusal) throw this.refusal;
    this.created.push(input);
    const { name, runtimeKind, size, lifecycle, metadata, description = null, model } = input;
    const llmKeys = input.llmKeys.map(({ provider, apiKey }) => ({
      provider,
      sealed: 'sealed',
      last4: apiKey.slice(-4),
      createdAt: at,
    }));
    const { egress = publicEgress, models = null, peers = [], labels = {} } = input;
    const given = { name, runtimeKind, size, lifecycle, labels, metadata, description, llmKeys, egress, models, peers };
    const { id } = options;
    const row = agentRow({
      ...given,
      ...(model && { model }),
      ...(id && { id }),
      accountId: account,
      status: 'provisioning',
      startedAt: null,
    });
    this.rows.push(row);
    return row;
  }

  async awaitStatus(
    account: string,
    id: string,
    _timeoutMs?: number,
    _signal?: AbortSignal,
    _wanted?: AgentStatus,
  ): Promise<AgentRow | null> {
    return this.settle(await this.get(account, id));
  }

  async get(account: string, id: string): Promise<AgentRow> {
    const row = this.rows.find((candidate) => candidate.id === id && candidate.accountId === account);
    if (!row) throw new Refusal('agent_not_found', `No agent has the id ${id}.`);
    return row;
  }

  async count(account: string) {
    const own = this.rows.filter(({ accountId }) => accountId === account);
    return { all: own.length, running: own.filter(({ status }) => status === 'running').length };
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

  async act(account: string, id: string, verb: Verb) {
    const row = await this.get(account, id);
    const admission = admit(verb, { ...row, isNewest: !this.canUpgrade(row) });
    if (admission.do === 'refuse') throw new Refusal(admission.code, 'Not now.', { agentId: id });
    if (admission.do !== 'begin') return { row, done: admission.do === 'nothing' };
    const operation = { kind: verb, cause: 'request', startedAt: at } as const;
    return { row: this.#put({ ...row, operation, generation: row.generation + 1 }), done: false };
  }

  async awaitVerb(account: string, id: string, verb: Verb, _timeoutMs: number, signal: AbortSignal): Promise<AgentRow> {
    return this.#put(await this.finish(await this.get(account, id), verb, signal));
  }

  async update(
    account: string,
    id: string,
    change: Parameters<Agents['update']>[2],
    { check }: Parameters<Agents['update']>[3] = {},
  ): Promise<AgentRow> {
    const row = await this.get(account, id);
    check?.(row);
    this.updates.push(change);
    const { name = row.name, description = row.description, size = row.size } = change;
    const { egress = row.egress, models = row.models } = change;
    const egressVersion = row.egressVersion + Number(change.egress !== undefined);
    const rules = { egress, egressVersion, egressApplied: egressVersion };
    return this.#put({ ...row, name, description, size, models, ...rules });
  }

  checked: Awaited<ReturnType<Agents['checkKeys']>> = [];

  async checkKeys(account: string, id: string) {
    await this.get(account, id);
    return this.checked;
  }

  async changeMembers(account: string, id: string, decide: Parameters<Agents['changeMembers']>[2]): Promise<AgentRow> {
    const row = await this.get(account, id);
    return this.#put({ ...row, members: decide(row.members) });
  }

  inEffect(): boolean {
    return true;
  }

  awaitInEffect(account: string, id: string): Promise<AgentRow> {
    return this.get(account, id);
  }

  async use(account: string, id: string, options: Parameters<Agents['use']>[2]) {
    const row = await this.get(account, id);
    this.uses.push(options);
    const canWake = row.status === 'paused' || (row.status === 'stopped' && options.wake);
    if ((row.status !== 'running' && !canWake) || !this.endpoint) {
      throw new Refusal('agent_not_running', 'Agent is not running. Start it first.', { agentId: id });
    }
    return {
      row,
      endpoint: (turn: ChatTurn) => {
        this.turns.push(turn);
        return this.endpoint!;
      },
      turnFailure: runtimes[row.runtimeKind].turnFailure,
      toolStep: runtimes[row.runtimeKind].toolStep,
      guest: { address: '127.0.0.1', credential: () => Promise.resolve(null) },
      web: this.web,
      flush: () => Promise.resolve(),
      release: () => void this.released.push(id),
    };
  }

  async record(account: string, id: string, event: Happening, by: By): Promise<void> {
    await this.get(account, id);
    this.recorded.push({ id, event, by });
  }

  turn(_id: string, signal: AbortSignal) {
    return { signal, refusal: null, hasModelAnswered: false };
  }

  busy(): () => void {
    return () => undefined;
  }

  /** Writes to an agent's log, as the engine would. */
  log(agentId: string, ...entries: (Partial<NewLogEntry> & { readonly message: string })[]): void {
    for (const entry of entries) {
      const id = BigInt(this.entries.length + 1);
      this.entries.push({ agentId, id, at, level: 'info', source: 'system', ...entry });
    }
    for (const listener of this.#listeners) listener();
  }

  async logs(account: string, query: LogQuery): Promise<readonly LogEntry[]> {
    await this.get(account, query.agentId);
    const { direction, from, since, until, minLevel = 'debug', source, search = '' } = query;
    const isAsked = (entry: (typeof this.entries)[number]): boolean =>
      entry.agentId === query.agentId &&
      (from === undefined || (direction === 'asc' ? entry.id > from : entry.id < from)) &&
      (since === undefined || entry.at >= since) &&
      (until === undefined || entry.at < until) &&
      logLevels.indexOf(entry.level) >= logLevels.indexOf(minLevel) &&
      (source === undefined || entry.source === source) &&
      entry.message.toLowerCase().includes(search.toLowerCase());
    const found = this.entries.filter(isAsked);
    return (direction === 'asc' ? found : found.toReversed()).slice(0, query.limit);
  }

  onLog(_id: string, listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** How many follow a log now. */
  get listeners(): number {
    return this.#listeners.size;
  }

  async usage(): Promise<null> {
    return null;
  }

  diskUsedMib(): number {
    return 128;
  }

  gatewayPortOf(): number {
    return 18789;
  }

  runtimeOf({ runtimeKind, runtimeVersion }: AgentRow) {
    return runtimeKind === 'runtime_a' ? { name: 'openclaw', version: runtimeVersion ?? '2026.9.6' } : null;
  }

  canUpgrade({ runtimeVersion }: AgentRow): boolean {
    return runtimeVersion !== null;
  }

  #put(row: AgentRow): AgentRow {
    this.rows = this.rows.map((present) => (present.id === row.id ? row : present));
    return row;
  }
}
