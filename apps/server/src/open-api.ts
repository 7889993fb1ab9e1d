/** The API: accounts and keys over the store, the HTTP app over the engine, and where it listens. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createAccounts, createApiKeyVerifier, storedKeys } from '@lodge/engine';
import type { Accounts, Engine, FindAuthority, Spend } from '@lodge/engine';
import type { ClientDocuments, ConnectionConsent, Cryptography, Log, SecretBox } from '@lodge/ports';
import { openSkillReader } from '@lodge/skills';
import type { Store } from '@lodge/store';
import type { FastifyInstance } from 'fastify';
import type { Config } from './config/config.ts';
import { networkSettings, rateSettings } from './config/network-settings.ts';
import { publicUrl } from './config/public-url.ts';
import { createHttpApp } from './http/app.ts';
import type { AppOptions } from './http/app.ts';
import type { AgentUrlSettings } from './http/context.ts';
import type { LodgeOptions } from './lodge-options.ts';
import type { Tls } from './machine-host/host.ts';
import type { Metrics } from './metrics/metrics.ts';
import { openResources } from './resources/index.ts';
import { version } from './version.ts';

export interface ApiParts extends Pick<LodgeOptions, 'guestAt' | 'api' | 'bounds'> {
  readonly store: Store;
  readonly engine: Engine;
  readonly spend: Spend;
  readonly consent: ConnectionConsent;
  readonly authority: FindAuthority;
  readonly clientDocuments: ClientDocuments;
  readonly metrics: Metrics | null;
  readonly secrets: SecretBox;
  readonly cryptography: Cryptography;
  readonly tls: Tls | null;
  readonly log: Log;
}

export interface OpenApi {
  /** With `/v1`. */
  readonly baseUrl: string;
  /** Accepts no more requests and gives running ones a bounded time, while everything that they need still exists. */
  readonly endRequests: () => Promise<void>;
  readonly accounts: Accounts;
  readonly app: FastifyInstance;
}

export async function openApi(
  config: Config,
  parts: ApiParts,
  closing: (() => Promise<unknown> | void)[],
): Promise<OpenApi> {
  const { store, engine, spend, metrics, secrets, tls, log } = parts;
  const { database, changes } = store;
  const { agents, channels, decideInTurn, runTurn, host, openedSnapshots } = engine;
  const verifier = verifierOf(parts);
  closing.push(() => verifier.close());
  const url = publicUrl(config);
  const origin = (): string => url.origin;
  const accounts = accountsOf(config, parts, origin);
  closing.push(() => accounts.close());
  const skillReader = skillReaderOf(config);
  const useCases = { agents, channels, openedSnapshots, portable: engine.portable! };
  closing.push(() => skillReader.close());
  const usual: AppOptions = {
    agents,
    runTurn,
    decideInTurn,
    host,
    hasRoom: () => engine.hasRoom(),
    verifier,
    events: store.events,
    accounts,
    ...openResources({ ...parts, ...useCases, config, database, changes, skillReader }),
    origin,
    usage: store.usage,
    idempotency: store.idempotency,
    secrets,
    limits: {
      store: store.limits,
      rates: rateSettings(config),
      quotas: { agents: config.maxAgents, running: config.maxRunning },
      spend,
    },
    network: networkSettings(config, tls),
    spend,
    pages: builtPages(),
    documents: fileURLToPath(new URL('../../docs/dist', import.meta.url)),
    ready: () => store.ping().then(() => readiness(engine)),
    agentUrl: agentUrls(config, url),
    createWaitMs: config.createWaitMs,
    lifecycleWaitMs: config.lifecycleWaitMs,
    chatTimeoutMs: config.chatTimeoutMs,
    version,
    log,
    ...(metrics && { metrics: metrics.http }),
    ...(parts.guestAt && { guestAt: parts.guestAt }),
  };
  const app = createHttpApp(parts.api?.(usual) ?? usual);
  let ended: Promise<void> | undefined;
  const endRequests = (): Promise<void> => (ended ??= app.close());
  closing.push(endRequests);
  const listening = new URL(await app.listen({ host: config.host, port: config.port }));
  // With LODGE_PORT=0 the port is known only now.
  if (config.publicUrl === null) url.port = listening.port;
  return { baseUrl: `${url.origin}/v1`, endRequests, accounts, app };
}

function verifierOf({ store, cryptography: { apiKeys }, log }: ApiParts) {
  const onChange = (listener: (keyId: string | null) => void) => store.changes.on('api_key_changed', listener);
  return createApiKeyVerifier({ apiKeys, keys: storedKeys(store.database), onChange, log });
}

function accountsOf(config: Config, parts: ApiParts, origin: () => string): Accounts {
  const { store, secrets, cryptography: crypto, clientDocuments, bounds, log } = parts;
  const registrationOpen = config.registration === 'open';
  return createAccounts({
    crypto,
    database: store.database,
    secrets,
    log,
    registrationOpen,
    origin,
    clientDocuments,
    ...(bounds?.accountsClock && { clock: bounds.accountsClock }),
  });
}

const skillReaderOf = ({ skillAddresses: addresses, egressProxy, clawHubUrl, skillsShUrl }: Config) =>
  openSkillReader({ addresses, egressProxy, hubs: { clawhub: clawHubUrl, 'skills.sh': skillsShUrl } });

/** The port of `url` is known only once it listens. */
function agentUrls(config: Config, url: URL): AgentUrlSettings {
  return {
    scheme: url.protocol === 'https:' ? 'https' : 'http',
    domain: config.agentsDomain,
    apiHost: url.hostname,
    get port() {
      return url.port === '' ? null : Number(url.port);
    },
    prefixes: config.prefixes,
  };
}

function readiness(engine: Engine): { ready: boolean; step: string | null } {
  const making = engine.templateProgress().find(({ state }) => state !== 'ready' && state !== 'early');
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
