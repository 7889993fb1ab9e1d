/**
 * The configuration every OpenClaw guest of a template starts with. It names no provider, no model and no key of anybody:
 * model calls go to the broker's fixed address, which knows the agent by the address they come from and does the rest.
 * What differs between agents is chosen by the host with each request (`modelFor`), so a clone needs nothing rewritten.
 *
 * Keys and their effects were tried on the version below; OpenClaw renames keys between releases. The first start of a
 * guest skips OpenClaw's state migrations, a third of its work, only while no top-level key is here that might have had
 * state of its own in an older version (`tools`, `cron`, `memory`, `session`, `channels` …), nor a plugin's `config`:
 * hence the tools under the agent's entry. With such a key it starts too, but an emulated guest on a busy host may not finish
 * the migrations within OpenClaw's own five seconds for a part of them, and then ends. The image takes `mcp` off OpenClaw's
 * list of these keys.
 */
import { maskModel } from '@lodge/domain';
import { guestBrokerPort, hostAddress } from '@lodge/guest';
import type { AgentSettings, LlmApi } from '@lodge/ports';
import { hostToolTimeoutMs, hostTools, hostToolsPath } from '../host-tools.ts';

export const openclawVersion = '2026.9.6';
/** Rises with every change to what `openclawConfig` writes: guests of another version are other guests. */
export const configVersion = 5;

export const homeFolder = '/home/agent';
/** Where OpenClaw keeps all it knows. */
const stateFolder = `${homeFolder}/.openclaw`;
/** The image starts the gateway once this file is there. */
export const configPath = `${stateFolder}/openclaw.json`;
const logPath = `${stateFolder}/logs/gateway.log`;
/** OpenClaw keeps a folder for each of its agents in here. */
export const agentsFolder = `${stateFolder}/agents`;
export const gatewayPort = 18789;
/** OpenClaw's id of the agent that every guest has. */
export const mainAgent = 'main';

export const workspacePath = '/workspace';
/** The main workspace is the guest's; each member has a folder of its own in there. */
export const workspaceOf = (agent: string): string =>
  agent === mainAgent ? workspacePath : `${workspacePath}/members/${agent}`;

interface GuestProvider {
  readonly name: string;
  /** Of the broker's. */
  readonly path: string;
  readonly compat?: object;
}

const providers: Readonly<Record<LlmApi, GuestProvider>> = {
  // Without it the usage that OpenClaw reports for a streamed call is zero with providers that tell it only when asked.
  'openai-completions': { name: 'lodge', path: '/openai/v1', compat: { supportsUsageInStreaming: true } },
  'openai-responses': { name: 'lodge-responses', path: '/openai/v1' },
  'anthropic-messages': { name: 'lodge-anthropic', path: '/anthropic' },
  'google-generative-ai': { name: 'lodge-google', path: '/google/v1beta' },
};
/** What guests of this version are configured for. */
export const guestApis = Object.keys(providers) as readonly LlmApi[];
export const guestProviders = Object.values(providers).map(({ name }) => name);

/**
 * Models a guest knows, by the tokens OpenClaw plans with: it compacts a conversation that comes near them. All mean the
 * agent's own model to the broker. The first is for a model whose window is unknown or not smaller. Below 16,000 tokens
 * nothing is left beside system prompt and reserve.
 */
const models = [
  { id: 'default', contextWindow: 128_000 },
  { id: 'default-64k', contextWindow: 64_000 },
  { id: 'default-32k', contextWindow: 32_000 },
  { id: 'default-16k', contextWindow: 16_000 },
] as const;

/**
 * `<provider>/<model>` of the guest's configuration: the header `x-openclaw-model`. Without `model` the agent's own is meant;
 * one that is named goes to the broker masked, as OpenClaw has its own mind about names it knows, and it plans for it
 * with what it takes for usual.
 */
export function modelFor({ api, contextWindow, model, pictures = false }: GuestModel): string {
  if (model) return `${providers[api].name}/${maskModel(model)}`;
  const fitting = models.find((candidate) => contextWindow === null || candidate.contextWindow <= contextWindow);
  const { id } = fitting ?? models.at(-1)!;
  return `${providers[api].name}/${pictures ? withPictures(id) : id}`;
}

interface GuestModel extends Pick<AgentSettings, 'api' | 'contextWindow'> {
  readonly model?: string | null;
  readonly pictures?: boolean;
}

/**
 * Each model is there a second time, for turns that pictures come with. For the other one OpenClaw leaves out every picture of
 * the conversation, and of files that it reads: no later turn fails by a picture that its model does not take.
 */
const withPictures = (id: string): string => `${id}-pictures`;

/** JSON of `configPath`. `token` opens the gateway and everything in the guest: the file is for its owner alone (0600). */
export function openclawConfig(token: string): string {
  return `${JSON.stringify(
    { gateway: gateway(token), models: modelCatalogue(), agents, mcp, skills, plugins, ...quiet },
    null,
    2,
  )}\n`;
}

function gateway(token: string): object {
  return {
    mode: 'local',
    port: gatewayPort,
    bind: 'lan',
    auth: { mode: 'token', token },
    controlUi: { enabled: false },
    terminal: { enabled: false },
    cliAgents: { enabled: false },
    http: { endpoints: { chatCompletions: { enabled: true }, responses: { enabled: true } } },
  };
}

/**
 * Providers without `apiKey`: OpenClaw shuts a provider whose configured key was refused (401, 402, 403) for half a minute
 * to ten minutes, which would outlast the moment its owner set a right key on the host.
 */
function modelCatalogue(): object {
  const entry = (api: LlmApi, { path, compat }: GuestProvider): object => ({
    baseUrl: `http://${hostAddress}:${guestBrokerPort}${path}`,
    api,
    models: models.flatMap(({ id, contextWindow }) => {
      const known = {
        contextWindow,
        cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
        ...(compat && { compat }),
      };
      const seeing = withPictures(id);
      return [
        { id, name: id, input: ['text'], ...known },
        { id: seeing, name: seeing, input: ['text', 'image'], ...known },
      ];
    }),
  });
  return {
    mode: 'replace',
    catalogRefresh: { enabled: false },
    providers: Object.fromEntries(guestApis.map((api) => [providers[api].name, entry(api, providers[api])])),
  };
}

/**
 * What an agent can use whose only way to be spoken to is a chat over HTTP. Left out are tools that wait for a person at
 * OpenClaw's own UI, that end the turn and answer later where nobody listens (sub-agents, its own schedules), and that change
 * what the host owns (configuration, plugins, updates). `bundle-mcp` stands for the tools of `mcp`.
 */
const tools = {
  allow: ['read', 'write', 'edit', 'apply_patch', 'ls', 'exec', 'process', 'web_fetch', 'session_status', 'bundle-mcp'],
  exec: { host: 'gateway', mode: 'full', notifyOnExit: false },
  codeMode: false,
};

const agents = {
  // More than one agent is allowed, and nothing is anybody's but what says so.
  ownership: 'explicit',
  defaults: {
    model: { primary: modelFor({ api: 'openai-completions', contextWindow: null }) },
    // An empty name turns off calls to a second, smaller model (titles, recaps).
    utilityModel: '',
    workspace: workspaceOf(mainAgent),
    skipBootstrap: true,
    heartbeat: { every: '0m', agentId: mainAgent },
    systemAgent: { agentId: mainAgent },
    // All of `instructions`, beside what the agent has written itself.
    bootstrapMaxChars: 48_000,
    bootstrapTotalMaxChars: 96_000,
  },
  entries: { [mainAgent]: memberEntry(mainAgent) },
};

/** What OpenClaw is told of one of its agents. */
export function memberEntry(name: string): object {
  return { workspace: workspaceOf(name), tools };
}

/**
 * The tools of the host: the agent's channels, schedules, peers and connections. Every conversation has a client of its own,
 * which is let go of ten minutes behind its last turn; without a time OpenClaw keeps all of them, up to a number at which turns
 * fail. What is offered is asked anew with each turn (the image's recipe), as an agent's connections may change.
 */
const mcp = {
  servers: {
    [hostTools]: {
      url: `http://${hostAddress}:${guestBrokerPort}${hostToolsPath}`,
      transport: 'streamable-http',
      requestTimeoutMs: hostToolTimeoutMs,
      supportsParallelToolCalls: true,
    },
  },
  sessionIdleTtlMs: 600_000,
};

const skills = {
  allowBundled: ['diagram-maker', 'skill-creator', 'weather'],
  workshop: { autonomous: { mode: 'off' } },
};

/** `memory-core` is on unless it is turned off, and makes a nightly job that calls the model. */
const plugins = {
  allow: ['admin-http-rpc'],
  entries: { 'admin-http-rpc': { enabled: true }, 'memory-core': { enabled: false } },
};

/** Nothing runs, calls a model or calls home unless a request asks for it. */
const quiet = {
  // Its own file beside what the guest's daemon keeps of its output: up to six of these sizes.
  logging: { level: 'warn', file: logPath, maxFileBytes: 2_000_000, consoleLevel: 'info', consoleStyle: 'json' },
  discovery: { mdns: { mode: 'off' } },
  update: { checkOnStart: false },
  telemetry: { enabled: false },
  browser: { enabled: false },
};
