/**
 * Puts Lodge together: the only file that picks adapters. Order matters at both ends. The API opens as soon as the database
 * answers; VMs, broker and templates follow behind it. At the end requests stop first and the database last.
 */
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  createAccounts,
  createAgentVisits,
  createApiKeyVerifier,
  ensureFirstKey,
  ensureOwnerLink,
  openSecretBox,
  readMasterKey,
} from '@lodge/access';
import type { FirstKey, OwnerLink } from '@lodge/access';
import {
  builtinProviders,
  createBroker,
  createKeyChecker,
  createPriceBook,
  parseOperatorProviders,
  parsePrices,
} from '@lodge/broker';
import { parseProviderModel } from '@lodge/domain';
import type { RuntimeKind } from '@lodge/domain';
import { Meter, createEngine, createLogCollector, createUsageKeeper } from '@lodge/engine';
import type { Engine, TemplateProgress } from '@lodge/engine';
import type { AgentRuntime, CallBook, KeyChecker, Log, Provider, SecretBox } from '@lodge/engine/ports';
import { createImageBuilder } from '@lodge/images';
import { createHermesRuntime, createOpenclawRuntime } from '@lodge/runtimes';
import { migrate, openStore, startEmbeddedPostgres } from '@lodge/store';
import type { Store } from '@lodge/store';
import type { Config } from './config.ts';
import { spendDefaults } from './config-spend.ts';
import { createHttpApp } from './http/app.ts';
import { lockInstance } from './instance-lock.ts';
import { openMachines } from './machines.ts';
import { masterKeySource } from './master-key-source.ts';
import { listenForScrapes } from './metrics/listener.ts';
import { createMetrics } from './metrics/metrics.ts';
import type { Metrics } from './metrics/metrics.ts';
import { networkSettings, rateSettings } from './network-settings.ts';
import { publicUrl } from './public-url.ts';
import { withRequestFields } from './request-log.ts';
import { version } from './version.ts';

export interface Lodge {
  /** Where the API answers, with `/v1`. */
  readonly baseUrl: string;
  /** The first key, until a start has shown it. */
  readonly firstKey: FirstKey | null;
  /** The link by which somebody makes the first account theirs, until a start has shown it. */
  readonly ownerLink: OwnerLink | null;
  /** Resolves when VMs, broker and templates are being looked after; the API answers before. Rejects when this host cannot run VMs. */
  readonly ready: Promise<void>;
  /** Ends the control plane; VMs go on. */
  close(): Promise<void>;
}

export interface LodgeOptions {
  readonly log: Log;
  /** What can run in guests; by default every runtime Lodge has. */
  readonly runtimes?: ReadonlyMap<RuntimeKind, AgentRuntime>;
  readonly onTemplateProgress?: (progress: TemplateProgress) => void;
}

/** Undo steps, run in reverse: what was begun last ends first. */
type Closing = (() => Promise<unknown> | void)[];

export async function startLodge(config: Config, options: LodgeOptions): Promise<Lodge> {
  const closing: Closing = [];
  let ready: Promise<void> = Promise.resolve();
  let endRequests: () => Promise<void> = () => Promise.resolve();
  const close = async (): Promise<void> => {
    await endRequests().catch((error: unknown) => options.log.error({ err: error }, 'requests did not end cleanly'));
    await ready.catch(() => undefined);
    for (const end of closing.splice(0).toReversed()) {
      try {
        await end();
      } catch (error) {
        options.log.error({ err: error }, 'a part did not end cleanly');
      }
    }
  };
  try {
    await mkdir(config.dataDir, { recursive: true, mode: 0o711 });
    closing.push(await lockInstance(config.dataDir));
    const assembled = await assemble(config, { ...options, log: withRequestFields(options.log) }, closing);
    const { baseUrl, firstKey, ownerLink } = assembled;
    endRequests = assembled.endRequests;
    ready = assembled.startMachines();
    return { baseUrl, firstKey, ownerLink, ready, close };
  } catch (error) {
    await close();
    throw error;
  }
}

interface Assembled extends Pick<Lodge, 'baseUrl' | 'firstKey' | 'ownerLink'> {
  readonly startMachines: () => Promise<void>;
  /** Takes no more requests and gives those under way a bounded while, with everything that they need still there. */
  readonly endRequests: () => Promise<void>;
}

async function assemble(config: Config, options: LodgeOptions, closing: Closing): Promise<Assembled> {
  const { log } = options;
  const store = await startStore(config, log, closing);
  const metrics = config.metricsPort === null ? null : createMetrics(version);
  const agents = metrics?.watchAgents(store.agents) ?? store.agents;
  const secrets = await openSecretBox(store.secrets, await readMasterKey(masterKeySource(config)));
  const providers = [...builtinProviders, ...parseOperatorProviders(config.providers)];
  const prices = createPriceBook(providers, parsePrices(config.prices));
  const keyChecker = openKeyChecker(config, providers, closing);
  const { network, driver: bare } = await openMachines(config, log);
  const meter = new Meter({ driver: bare, usage: store.usage, log });
  const { driver } = meter;
  const runtimes =
    options.runtimes ??
    new Map<RuntimeKind, AgentRuntime>([
      ['runtime_a', createOpenclawRuntime()],
      ['runtime_b', createHermesRuntime()],
    ]);
  const holder = `${config.instance}@${hostname()}`;
  const shared = { store: agents, logs: store.agentLogs, driver, runtimes, log, holder };
  const engine = createEngine({
    ...shared,
    images: createImageBuilder({ cacheDir: config.cacheDir, log }),
    providers,
    secrets,
    keyChecker,
    defaultModel: config.defaultModel,
    maxAgentsPerAccount: config.maxAgents,
    maxRunningPerAccount: config.maxRunning,
    memory: { reservedMib: config.memoryReservedMib, overcommit: config.memoryOvercommit },
    spend: store.spend,
    loopBounds: { calls: config.turnCalls, same: config.sameCalls },
    provisionTimeoutMs: config.provisionTimeoutMs,
  });
  const logCollector = createLogCollector({
    ...shared,
    bounds: { maxEntries: config.logMaxEntries, maxAgeMs: config.logMaxAgeDays * dayMs },
  });
  if (options.onTemplateProgress) engine.onTemplateProgress(options.onTemplateProgress);
  if (metrics) await openMetrics(config, { metrics, store, engine, log }, closing);
  const { baseUrl, endRequests } = await openApi(config, { store, engine, metrics, secrets, log }, closing);
  const firstKey = await ensureFirstKey(store.apiKeys, join(config.dataDir, 'first-key'));
  const ownerLink = await ensureOwnerLink(store.accounts, join(config.dataDir, 'owner-link'));

  const startMachines = async (): Promise<void> => {
    await driver.start();
    closing.push(() => driver.stop());
    const written = await startMetering(config, { store, holder, log }, closing);
    const book = engine.watchCalls(metrics?.watchCalls(written, providers) ?? written);
    const hold = (agentId: string) => engine.agents.busy(agentId);
    const directory = store.directoryOf(holder);
    const broker = createBroker({ ...brokerSettings(config), directory, secrets, book, prices, providers, log, hold });
    await broker.listen({ host: network.brokerHost, port: config.brokerPort });
    closing.push(() => broker.close());
    for (const part of [engine, meter, logCollector]) {
      part.start();
      closing.push(() => part.stop());
    }
  };
  return { baseUrl, firstKey, ownerLink, startMachines, endRequests };
}

/** Ends the calls that an earlier process left, and gives the book of this one. */
async function startMetering(
  config: Config,
  { store, holder, log }: Pick<Running, 'store' | 'log'> & { readonly holder: string },
  closing: Closing,
): Promise<CallBook> {
  const book = store.bookOf(holder);
  const contentMaxAgeMs = config.llmContentDays * dayMs;
  const keeper = createUsageKeeper({ usage: store.usage, book, log, contentMaxAgeMs });
  await store.usage.setComputePrices(config.computePrices);
  await keeper.start();
  closing.push(() => keeper.stop());
  return book;
}

function openKeyChecker({ egressProxy }: Config, providers: readonly Provider[], closing: Closing): KeyChecker {
  const checker = createKeyChecker({ providers, egressProxy });
  closing.push(() => checker.close());
  return checker;
}

function brokerSettings({ defaultModel, egressProxy, llmCallsAtOnce, llmCallsPerMinute }: Config) {
  const limits = { callsPerAgent: llmCallsAtOnce, callsPerAgentPerMinute: llmCallsPerMinute };
  return { defaultProvider: parseProviderModel(defaultModel)?.provider ?? null, egressProxy, limits };
}

const dayMs = 24 * 60 * 60_000;

interface Running {
  readonly store: Store;
  readonly engine: Engine;
  readonly log: Log;
}

async function openMetrics(
  config: Config,
  { metrics, store, engine, log }: Running & { readonly metrics: Metrics },
  closing: Closing,
): Promise<void> {
  metrics.observe({ agents: store.agents, templates: () => engine.templateProgress() });
  const listener = await listenForScrapes(metrics, { host: config.metricsHost, port: config.metricsPort! }, log);
  closing.push(() => listener.close());
}

async function startStore(config: Config, log: Log, closing: Closing): Promise<Store> {
  let connectionString = config.databaseUrl;
  if (connectionString === null) {
    const postgres = await startEmbeddedPostgres({
      dataDir: join(config.dataDir, 'postgres'),
      user: config.systemUser,
      log,
    });
    closing.push(() => postgres.stop());
    connectionString = postgres.connectionString;
  }
  await migrate({ connectionString });
  const store = await openStore({ connectionString, log, spendDefaults: spendDefaults(config) });
  closing.push(() => store.close());
  return store;
}

async function openApi(
  config: Config,
  { store, engine, metrics, secrets, log }: Running & { readonly metrics: Metrics | null; readonly secrets: SecretBox },
  closing: Closing,
): Promise<Pick<Assembled, 'baseUrl' | 'endRequests'>> {
  const verifier = createApiKeyVerifier({ store: store.apiKeys, changes: store.apiKeys, log });
  closing.push(() => verifier.close());
  const registrationOpen = config.registration === 'open';
  const accounts = createAccounts({ store: store.accounts, secrets, log, registrationOpen });
  closing.push(() => accounts.close());
  const url = publicUrl(config);
  const app = createHttpApp({
    agents: engine.agents,
    verifier,
    audit: store.audit,
    accounts,
    places: { ports: store.agentPorts, visits: createAgentVisits(store.agentVisits) },
    usage: store.usage,
    idempotency: store.idempotency,
    secrets,
    limits: {
      store: store.limits,
      rates: rateSettings(config),
      quotas: { agents: config.maxAgents, running: config.maxRunning },
      spend: store.spend,
    },
    network: await networkSettings(config),
    account: { accounts, spend: store.spend, origin: () => url.origin, pages: builtPages() },
    ready: async () => {
      await store.ping();
      return readiness(engine);
    },
    agentUrl: {
      scheme: url.protocol === 'https:' ? 'https' : 'http',
      domain: config.agentsDomain,
      apiHost: url.hostname,
      get port() {
        return url.port === '' ? null : Number(url.port);
      },
      prefixes: { runtime_a: config.prefixRuntimeA, runtime_b: config.prefixRuntimeB },
    },
    createWaitMs: config.createWaitMs,
    lifecycleWaitMs: config.lifecycleWaitMs,
    chatTimeoutMs: config.chatTimeoutMs,
    version,
    log,
    ...(metrics && { metrics: metrics.http }),
  });
  let ended: Promise<void> | undefined;
  const endRequests = (): Promise<void> => (ended ??= app.close());
  closing.push(endRequests);
  const listening = new URL(await app.listen({ host: config.host, port: config.port }));
  // With LODGE_PORT=0 the port is known only now.
  if (config.publicUrl === null) url.port = listening.port;
  return { baseUrl: `${url.origin}/v1`, endRequests };
}

function readiness(engine: Engine): { ready: boolean; step: string | null } {
  const making = engine.templateProgress().find((progress) => progress.state !== 'ready');
  if (!making) return { ready: true, step: null };
  // Why it failed is for the operator's log: it may name paths.
  return {
    ready: false,
    step: making.state === 'building' ? `${making.runtime}: ${making.step}` : `${making.runtime}: waiting to try again`,
  };
}

/** The account area's pages, where they were built; a checkout that was never started has none yet. */
function builtPages(): string | null {
  const folder = fileURLToPath(new URL('../../web/dist', import.meta.url));
  return existsSync(join(folder, 'index.html')) ? folder : null;
}
