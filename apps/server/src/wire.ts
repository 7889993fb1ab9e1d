/**
 * Puts Lodge together: the only file that picks adapters. Order matters at both ends. The API opens as soon as the database
 * answers; VMs, broker and templates follow behind it. At the end requests stop first and the database last.
 */
import { hostname } from 'node:os';
import { join } from 'node:path';
import { cryptography, openSecretBox } from '@lodge/access';
import {
  Meter,
  checkDefaultModel,
  createCallLedger,
  createEngine,
  createEventKeeper,
  createLogCollector,
  createSpend,
  createUsageKeeper,
} from '@lodge/engine';
import { openGuestDoors } from './guest-doors.ts';
import { closeAll } from './closing.ts';
import type { Closing } from './closing.ts';
import { ensureFirstKey } from './host/first-key.ts';
import { createHostLook } from './host/host-look.ts';
import { ensureOwnerLink } from './host/owner-link.ts';
import type { FirstKey } from './host/first-key.ts';
import type { OwnerLink } from './host/owner-link.ts';
import {
  builtinProviders,
  createBroker,
  createKeyChecker,
  createPriceBook,
  parseOperatorProviders,
  parsePrices,
} from '@lodge/broker';
import type { BrokerOptions } from '@lodge/broker';
import { parseProviderModel } from '@lodge/domain';
import { createOutbound } from '@lodge/egress';
import type { Accounts, Engine, PortableParts } from '@lodge/engine';
import type { ConnectionParts } from '@lodge/connections';
import type { CallLedger, KeyChecker, Log, Provider, VmReading } from '@lodge/ports';
import { allRuntimes, createGateway, createGuestPackages, createGuestTrees } from '@lodge/runtimes';
import { migrate, openStore } from '@lodge/store';
import { countAccounts } from '@lodge/store/accounts';
import { recordReading, setComputePrices } from '@lodge/store/usage';
import type { Store } from '@lodge/store';
import type { FastifyInstance } from 'fastify';
import type { Config } from './config/config.ts';
import { spendDefaults } from './config/spend-defaults.ts';
import type { Finding } from './host/finding.ts';
import type { LodgeBounds, LodgeOptions } from './lodge-options.ts';
import { ownFolderOf } from './machine-host/control-user.ts';
import type { Host } from './machine-host/host.ts';
import { watchEventLoop } from './metrics/event-loop.ts';
import type { Metrics } from './metrics/metrics.ts';
import { startChannels } from './relay/parts.ts';
import { withRequestFields } from './request-log.ts';
import { openApi } from './open-api.ts';
import { SourceProxy } from './package-sources/proxy.ts';
import { areThroughHost, mirrorsOf, sourceHosts } from './package-sources/sources.ts';
import { version } from './version.ts';
import { createPortableFiles } from './portable/files.ts';
import { openTryOut } from './tryout/provider.ts';
import type { TryOut } from './tryout/provider.ts';
import { openDelivering } from './webhooks.ts';

export interface Lodge {
  /** The API's address, with `/v1`. */
  readonly baseUrl: string;
  /** The first key, until a start has shown it. */
  readonly firstKey: FirstKey | null;
  /** The link by which somebody makes the first account theirs, until a start has shown it. */
  readonly ownerLink: OwnerLink | null;
  /** The weaknesses of this Lodge, once they were looked for. Never rejects. */
  readonly weaknesses: Promise<readonly Finding[]>;
  /** Resolves when VMs, broker and templates are being looked after; the API answers before. Rejects when this host cannot run VMs. */
  readonly ready: Promise<void>;
  /** For tests and measurements in the same process. */
  readonly parts: LodgeParts;
  /** Ends the control plane; VMs go on. */
  close(): Promise<void>;
}

export interface LodgeParts {
  readonly store: Store;
  readonly engine: Engine;
  readonly accounts: Accounts;
  /** The HTTP API, which a test asks without a socket. */
  readonly app: FastifyInstance;
  /** MCP connections, as tools of their agents. */
  readonly tools: ConnectionParts['tools'];
}

export async function startLodge(config: Config, options: LodgeOptions): Promise<Lodge> {
  const closing: Closing = [];
  let ready: Promise<void> = Promise.resolve();
  let endRequests: () => Promise<void> = () => Promise.resolve();
  const close = async (): Promise<void> => {
    await endRequests().catch((error: unknown) => options.log.error({ err: error }, 'requests did not end cleanly'));
    await ready.catch(() => undefined);
    await closeAll(closing, options.log);
  };
  try {
    const log = withRequestFields(options.log);
    const assembled = await assemble(config, { ...options, log }, closing);
    const { baseUrl, firstKey, ownerLink, weaknesses, parts } = assembled;
    endRequests = assembled.endRequests;
    ready = assembled.startMachines();
    return { baseUrl, firstKey, ownerLink, weaknesses, ready, parts, close };
  } catch (error) {
    await close();
    throw error;
  }
}

interface Assembled extends Pick<Lodge, 'baseUrl' | 'firstKey' | 'ownerLink' | 'weaknesses' | 'parts'> {
  readonly startMachines: () => Promise<void>;
  /** Accepts no more requests and gives running ones a bounded time, while everything that they need still exists. */
  readonly endRequests: () => Promise<void>;
}

async function assemble(config: Config, options: LodgeOptions, closing: Closing): Promise<Assembled> {
  const { log, host, bounds = {}, ...given } = options;
  const store = await startStore(host, log, closing);
  const metrics = await metricsOf(config);
  watchLoop(metrics, log, closing);
  const secrets = await openSecretBox(store.secrets, host.masterKey);
  const tryOut = config.tryOut === 'on' ? await openTryOut() : null;
  if (tryOut !== null) closing.push(() => tryOut.close());
  const { providers, prices } = openProviders(config, tryOut);
  const keyChecker = openKeyChecker(config, providers, closing);
  const spend = createSpend(store.database, spendDefaults(config));
  const { driver } = host;
  const record = (reading: VmReading) => store.database.transaction((trx) => recordReading(trx, reading));
  const meter = new Meter({ driver, record, log });
  const runtimes = options.runtimes ?? allRuntimes();
  const holder = `${config.instance}@${hostname()}`;
  const shared = { database: store.database, driver, runtimes, log, holder };
  const channels = await startChannels(config, { ...host, ...given, secrets, log }, closing);
  const engine = createEngine({
    ...shared,
    ...engineSettings(config, store, { ...given, bounds }),
    spend,
    beforeEnd: (agentId) => meter.readLast(agentId),
    images: host.images,
    versions: host.versions,
    gateway: createGateway(),
    providers,
    secrets,
    keyChecker,
    channels,
    ...(metrics && { onTurn: metrics.turnBegan, onOperationEnded: metrics.operationEnded }),
  });
  const logCollector = createLogCollector({ ...shared, bounds: logBounds(config) });
  const eventKeeper = createEventKeeper({ database: store.database, bounds: eventBounds(config), log });
  if (options.onTemplateProgress) engine.onTemplateProgress(options.onTemplateProgress);
  if (metrics) await openMetrics(config, { metrics, store, engine, log }, closing);
  const delivering = openDelivering(config, { store, secrets, log, holder });
  const guests = { store, engine, spend, channels, secrets, log, ...(bounds.oauth && { oauthBounds: bounds.oauth }) };
  const { doors, tlsDoor, tools, ...seenDoors } = openGuestDoors(config, guests, closing);
  const seen = { ...seenDoors, store, engine, spend, metrics, secrets, cryptography, tls: host.tls, log };
  const { baseUrl, endRequests, accounts, app } = await openApi(config, { ...given, bounds, ...seen }, closing);
  const firstKey = await ensureFirstKey(store.database, join(ownFolderOf(config), 'first-key'));
  const ownerLink = await ensureOwnerLink(store.database, join(ownFolderOf(config), 'owner-link'));
  const weaknesses = options.looksAtHost === false ? Promise.resolve([]) : lookAtHost(config, store, log);

  const startMachines = async (): Promise<void> => {
    await driver.start();
    closing.push(() => driver.stop());
    const stored = await startMetering(config, { store, holder, log }, closing);
    const ledger = engine.watchCalls(metrics ? metrics.watchCalls(stored, providers) : stored);
    const directory = store.directoryOf(holder, spend.defaults);
    const known = { directory, secrets, prices, providers, ledger, log, doors, tlsDoor };
    closing.push(await serveGuests(config, known, engine, driver.brokerHost));
    for (const part of [engine, meter, logCollector, eventKeeper, delivering]) {
      part.start();
      closing.push(() => part.stop());
    }
  };
  const parts = { store, engine, accounts, app, tools };
  return { baseUrl, firstKey, ownerLink, weaknesses, startMachines, endRequests, parts };
}

function openProviders({ providers: added, prices, defaultModel }: Config, tryOut: TryOut | null) {
  const operators = parseOperatorProviders(added);
  const own = tryOut === null || operators.some(({ id }) => id === tryOut.provider.id) ? [] : [tryOut.provider];
  const providers = [...builtinProviders, ...operators, ...own];
  checkDefaultModel({ providers, defaultModel }, 'LODGE_DEFAULT_MODEL');
  return { providers, prices: createPriceBook(providers, parsePrices(prices)) };
}

type BrokerParts = Omit<BrokerOptions, 'keepAwake' | 'proxy' | 'hasRoom' | keyof ReturnType<typeof brokerSettings>>;

/** Mirrors are slower than providers. */
const sourceConnectMs = 20_000;

/** The broker at its address; gives what ends it. */
async function serveGuests(config: Config, parts: BrokerParts, engine: Engine, host: string) {
  const keepAwake = (agentId: string) => engine.agents.busy(agentId);
  const hasRoom = () => engine.hasRoom();
  const isOpen = (agentId: string) => engine.reachesPackages(agentId);
  const outbound = createOutbound(sourceConnectMs, config.egressProxy);
  const longestMs = config.packagesTimeoutMs;
  const proxy = new SourceProxy({ hosts: sourceHosts(config), outbound, longestMs, isOpen, log: parts.log });
  const broker = createBroker({ ...brokerSettings(config), ...parts, keepAwake, hasRoom, proxy });
  await broker.listen({ host, port: config.brokerPort });
  return async () => {
    await broker.close();
    await outbound.close();
  };
}

const portableParts = (config: Config, guestAt: LodgeOptions['guestAt']): PortableParts => ({
  trees: createGuestTrees(guestAt),
  files: createPortableFiles(join(ownFolderOf(config), 'imports')),
  maxImportBytes: config.maxImportMib * 2 ** 20,
});

function watchLoop(metrics: Metrics | null, log: Log, closing: Closing): void {
  const loop = watchEventLoop({ log, ...(metrics && { observe: metrics.loopDelay }) });
  closing.push(() => loop.stop());
}

function engineSettings(
  config: Config,
  store: Store,
  { bounds, guestAt }: Pick<LodgeOptions, 'guestAt'> & { readonly bounds: LodgeBounds },
) {
  return {
    portable: portableParts(config, guestAt),
    changes: store.changes,
    packages: createGuestPackages(mirrorsOf(config), { toolMs: config.packagesTimeoutMs }),
    packagesThroughHost: areThroughHost(config),
    hostLook: createHostLook(config, () => store.database.repeatable(countAccounts)),
    ...(bounds.work && { work: bounds.work }),
    ...(bounds.snapshotsEveryMs && { snapshotsEveryMs: bounds.snapshotsEveryMs }),
    schedules: { bounds: { turnMs: config.chatTimeoutMs } },
    confirmations: { bounds: { turnMs: config.chatTimeoutMs, ...bounds.confirmations } },
    hooks: { bounds: { turnMs: config.chatTimeoutMs, ...bounds.hooks } },
    defaultModel: config.defaultModel,
    maxAgentsPerAccount: config.maxAgents,
    maxRunningPerAccount: config.maxRunning,
    snapshots: { accountGib: config.maxSnapshotGib },
    memory: { reservedMib: config.memoryReservedMib, overcommit: config.memoryOvercommit },
    disk: { reservedMib: config.diskReservedMib, floorMib: config.diskFloorMib, overcommit: config.diskOvercommit },
    loopBounds: { calls: config.turnCalls, same: config.sameCalls },
    provisionTimeoutMs: config.provisionTimeoutMs,
  };
}

const logBounds = ({ logMaxEntries, logMaxMib, logMaxAgeDays }: Config) => ({
  maxEntries: logMaxEntries,
  maxBytes: logMaxMib * 2 ** 20,
  maxAgeMs: logMaxAgeDays * dayMs,
});

const eventBounds = ({ eventMax, eventMaxDays }: Config) => ({ maxEvents: eventMax, maxAgeMs: eventMaxDays * dayMs });

const contentBytes = ({ llmContentMaxMib }: Config): number => llmContentMaxMib * 2 ** 20;

/** Ends the calls that an earlier process left, and gives the ledger of this one. */
async function startMetering(
  config: Config,
  { store, holder, log }: Pick<Running, 'store' | 'log'> & { readonly holder: string },
  closing: Closing,
): Promise<CallLedger> {
  const options = { spendDefaults: spendDefaults(config), contentBytes: contentBytes(config) };
  const ledger = createCallLedger(store.database, holder, options);
  const contents = { maxAgeMs: config.llmContentDays * dayMs, maxBytes: contentBytes(config) };
  const calls = { maxCalls: config.llmCallMax, maxAgeMs: config.llmCallDays * dayMs };
  const keeper = createUsageKeeper({ database: store.database, ledger, log, contents, calls });
  await setComputePrices(store.database, config.computePrices);
  await keeper.start();
  closing.push(() => keeper.stop());
  return ledger;
}

function openKeyChecker({ egressProxy }: Config, providers: readonly Provider[], closing: Closing): KeyChecker {
  const checker = createKeyChecker({ providers, egressProxy });
  closing.push(() => checker.close());
  return checker;
}

function brokerSettings({ defaultModel, egressProxy, llmCallsAtOnce, llmCallsPerMinute, unpricedModels }: Config) {
  const limits = { callsPerAgent: llmCallsAtOnce, callsPerAgentPerMinute: llmCallsPerMinute };
  const defaultProvider = parseProviderModel(defaultModel)?.provider ?? null;
  return { defaultProvider, egressProxy, limits, unpriced: unpricedModels };
}

const dayMs = 24 * 60 * 60_000;

async function metricsOf({ metricsPort }: Config): Promise<Metrics | null> {
  return metricsPort === null ? null : (await import('./metrics/metrics.ts')).createMetrics(version);
}

async function lookAtHost(config: Config, { database }: Store, log: Log): Promise<readonly Finding[]> {
  const { reportWeaknesses } = await import('./host/weaknesses/table.ts');
  return reportWeaknesses(config, () => database.repeatable(countAccounts), log);
}

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
  // Their library is loaded where somebody wants metrics.
  const { listenForScrapes } = await import('./metrics/listener.ts');
  const templates = () => engine.templateProgress();
  metrics.observe({
    database: store.database,
    templates,
    sizes: store.sizes,
  });
  const listener = await listenForScrapes(metrics, { host: config.metricsHost, port: config.metricsPort! }, log);
  closing.push(() => listener.close());
}

async function startStore({ connectionString }: Host, log: Log, closing: Closing): Promise<Store> {
  await migrate({ connectionString });
  const store = await openStore({ connectionString, log });
  closing.push(() => store.close());
  return store;
}
