/**
 * The operator's figures, in Prometheus's form. No label holds an agent's id or anything a client chose: the number of
 * series depends on the deployment alone.
 */
import { agentStatuses } from '@lodge/domain';
import type { TemplateProgress } from '@lodge/engine';
import type { CallLedger, EndedOperation, LlmCall, Provider, StoredSizes } from '@lodge/ports';
import { allAgents } from '@lodge/store/agents';
import type { Database } from '@lodge/store/database';
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { HttpMetrics } from '../http/context.ts';

export interface Metrics {
  readonly http: HttpMetrics;
  /** Counts a chat turn; gives what to call when it has ended. */
  readonly turnBegan: () => () => void;
  /** Counts the longest delay of the event loop in a second. */
  readonly loopDelay: (seconds: number) => void;
  /** The same ledger; calls that are over are counted. */
  watchCalls(ledger: CallLedger, providers: readonly Provider[]): CallLedger;
  /** Counts from then on what this process writes, and looks at the rest whenever the figures are asked for. */
  observe(sources: MetricSources): void;
  readonly operationEnded: (operation: EndedOperation) => void;
  /** All figures as they are now. Figures that cannot be read are omitted. */
  text(): Promise<string>;
  readonly contentType: string;
}

export interface MetricSources {
  readonly database: Pick<Database, 'repeatable'>;
  readonly templates: () => readonly TemplateProgress[];
  readonly sizes: () => Promise<StoredSizes>;
}

/** From a pause to a cold boot under emulation. */
const operationBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900];
/** From a read to a long chat turn. */
const requestBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** From a tick to what everybody notices. */
const delayBuckets = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export function createMetrics(version: string): Metrics {
  const register = new Registry();
  const registers = [register];
  collectDefaultMetrics({ register });
  const info = new Gauge({ name: 'lodge_info', help: 'Version of Lodge.', labelNames: ['version'], registers });
  info.set({ version }, 1);
  const turns = new Gauge({ name: 'lodge_chats_in_flight', help: 'Chat turns under way.', registers });
  const delays = new Histogram({
    name: 'lodge_event_loop_delay_seconds',
    help: 'The longest delay of the event loop in each second.',
    buckets: delayBuckets,
    registers,
  });
  return {
    loopDelay: (seconds) => delays.observe(seconds),
    http: httpMetrics(registers),
    turnBegan() {
      turns.inc();
      return () => turns.dec();
    },
    watchCalls: (ledger, providers) => watchCalls(ledger, providers, registers),
    observe({ database, templates, sizes }) {
      register.registerMetric(agentGauge(database));
      register.registerMetric(templateGauge(templates));
      register.registerMetric(sizeGauge(sizes));
    },
    operationEnded: countOperations(registers),
    text: () => register.metrics(),
    contentType: register.contentType,
  };
}

function httpMetrics(registers: Registry[]): HttpMetrics {
  const requests = new Histogram({
    name: 'lodge_http_request_duration_seconds',
    help: 'Replies of the API; `route` is a pattern.',
    labelNames: ['method', 'route', 'status'],
    buckets: requestBuckets,
    registers,
  });
  return {
    replied: ({ method, route, status, ms }) =>
      requests.observe({ method: route === null ? 'any' : method, route: route ?? 'none', status }, ms / 1000),
  };
}

function watchCalls(ledger: CallLedger, providers: readonly Provider[], registers: Registry[]): CallLedger {
  const known = new Set(providers.map(({ id }) => id));
  const durations = new Histogram({
    name: 'lodge_llm_call_duration_seconds',
    help: 'Calls of agents to their LLM provider, and how they ended.',
    labelNames: ['provider', 'outcome'],
    buckets: requestBuckets,
    registers,
  });
  const tokens = new Counter({
    name: 'lodge_llm_tokens_total',
    help: 'Tokens that providers counted.',
    labelNames: ['provider', 'type'],
    registers,
  });
  const count = (call: LlmCall): void => {
    const provider = known.has(call.provider) ? call.provider : 'unknown';
    durations.observe({ provider, outcome: call.outcome }, call.durationMs / 1000);
    const { inputTokens: input, outputTokens: output, cacheReadTokens, cacheWriteTokens } = call;
    const counts = { input, output, cache_read: cacheReadTokens, cache_write: cacheWriteTokens };
    for (const [type, amount] of Object.entries(counts)) if (amount !== null) tokens.inc({ provider, type }, amount);
  };
  return {
    open: (call) => ledger.open(call),
    async close(call, content) {
      await ledger.close(call, content);
      count(call);
    },
  };
}

/** Each end is one event, told by the process that wrote it: over all processes every operation counts once. */
function countOperations(registers: Registry[]): Metrics['operationEnded'] {
  const durations = new Histogram({
    name: 'lodge_operation_duration_seconds',
    help: 'Creates and changes of machines that ended: what, why begun, and whether it came to its goal.',
    labelNames: ['kind', 'cause', 'outcome'],
    buckets: operationBuckets,
    registers,
  });
  return ({ kind, cause, outcome, seconds }) => durations.observe({ kind, cause, outcome }, seconds);
}

function agentGauge(database: MetricSources['database']): Gauge {
  return new Gauge({
    name: 'lodge_agents',
    help: 'Agents by status.',
    labelNames: ['status'],
    registers: [],
    async collect() {
      this.reset();
      const rows = await database.repeatable(allAgents).catch(() => null);
      for (const status of rows === null ? [] : agentStatuses) {
        this.set({ status }, rows!.filter((row) => row.status === status).length);
      }
    },
  });
}

function templateGauge(templates: () => readonly TemplateProgress[]): Gauge {
  return new Gauge({
    name: 'lodge_template_state',
    help: '1 for the state that the current template of a runtime is in.',
    labelNames: ['runtime', 'state'],
    registers: [],
    collect() {
      this.reset();
      for (const { runtime, state } of templates()) this.set({ runtime, state }, 1);
    },
  });
}

function sizeGauge(sizes: MetricSources['sizes']): Gauge {
  return new Gauge({
    name: 'lodge_stored_bytes',
    help: 'The whole database, and what of it is replies and contents of model calls that are kept.',
    labelNames: ['kind'],
    registers: [],
    async collect() {
      this.reset();
      const found = await sizes().catch(() => null);
      for (const [kind, bytes] of Object.entries(found ?? {})) this.set({ kind }, bytes as number);
    },
  });
}
